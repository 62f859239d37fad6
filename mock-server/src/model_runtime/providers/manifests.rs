//! What the providers say of themselves. No two models can do the same.

use crate::model_runtime::model::{Feature, Gate, Manifest, Model};

/// `mock-text`: text and JSON in, text out, as a stream.
pub(super) fn text() -> Manifest {
    let alpha = Model {
        name: "alpha",
        abilities: vec!["text-generation"],
        input_modalities: vec!["text", "json"],
        output_modalities: vec!["text"],
        features: [Feature::Stream, Feature::Cancel].into(),
    };
    Manifest { provider: "mock-text", models: vec![alpha], limits: None }
}

/// `mock-tools`: two models, one of which can do nearly everything with text, the other somewhat less.
pub(super) fn tools() -> Manifest {
    let beta = Model {
        name: "beta",
        abilities: vec!["text-generation", "tool-use"],
        input_modalities: vec!["text", "json", "image", "file"],
        output_modalities: vec!["text", "json"],
        features: [Feature::Stream, Feature::Tools, Feature::StructuredOutput, Feature::Cancel].into(),
    };
    let beta_mini = Model {
        name: "beta-mini",
        abilities: vec!["text-generation"],
        input_modalities: vec!["text", "audio"],
        output_modalities: vec!["text"],
        features: [Feature::Tools, Feature::Cancel].into(),
    };
    Manifest { provider: "mock-tools", models: vec![beta, beta_mini], limits: None }
}

/// `mock-media`: asynchronous, with artifacts.
pub(super) fn media() -> Manifest {
    let gamma = Model {
        name: "gamma",
        abilities: vec!["image-generation", "video-generation"],
        input_modalities: vec!["text", "image"],
        output_modalities: vec!["image", "video"],
        features: [Feature::Async, Feature::Cancel].into(),
    };
    Manifest { provider: "mock-media", models: vec![gamma], limits: None }
}

/// `mock-narrow`: one at a time, and one may wait.
pub(super) fn narrow() -> Manifest {
    let delta = Model {
        name: "delta",
        abilities: vec!["text-generation", "narrow-generation"],
        input_modalities: vec!["text"],
        output_modalities: vec!["text"],
        features: [Feature::Stream].into(),
    };
    Manifest { provider: "mock-narrow", models: vec![delta], limits: Some(Gate { concurrency: 1, queue: 1 }) }
}
