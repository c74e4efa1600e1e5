//! Replies that are no success.

use am_model::InvalidValue;
use am_service::ServiceError;
use am_store::StoreError;
use am_wire::Unlisted;
use http::StatusCode;

/// Why a request gets no success.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// `Host` or `Origin` is not on the list.
    Forbidden,
    Unauthorized,
    NotFound,
    /// The route has this method only.
    MethodNotAllowed(&'static str),
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    BodyTooLarge,
    /// The body didn't arrive in time.
    BodyTimeout,
    /// What the body has instead of JSON.
    InvalidJson(&'static str),
    /// What is wrong with the values.
    InvalidRequest(String),
    InvalidPathEncoding,
    /// No place was free in time.
    Overloaded,
    /// The verb didn't end in time; it still may.
    Timeout,
    /// A defect of ours.
    Internal(&'static str),
    Service(ServiceError),
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid(invalid) => invalid.into(),
            ServiceError::EventKey => Self::InvalidRequest(format!("idempotency-key: {error}")),
            error => Self::Service(error),
        }
    }
}

impl From<Unlisted> for Failure {
    fn from(_: Unlisted) -> Self {
        Self::Internal("a verb reads a value that its route doesn't list")
    }
}

impl From<InvalidValue> for Failure {
    fn from(invalid: InvalidValue) -> Self {
        Self::InvalidRequest(invalid.to_string())
    }
}

impl Failure {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::InvalidJson(_) | Self::InvalidRequest(_) | Self::InvalidPathEncoding => {
                StatusCode::BAD_REQUEST
            }
            Self::Overloaded | Self::Timeout => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) | Self::Service(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the stable name in the reply.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::BodyTooLarge => "payload_too_large",
            Self::BodyTimeout => "request_timeout",
            Self::InvalidJson(_) => "invalid_json_body",
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidPathEncoding => "invalid_path_encoding",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Internal(_) | Self::Service(_) => "internal_error",
        }
    }

    /// Returns what the caller can do something about.
    pub(crate) fn details(&self) -> Option<String> {
        match self {
            Self::UnsupportedMediaType => Some("application/json required".to_owned()),
            Self::InvalidJson(details) => Some((*details).to_owned()),
            Self::InvalidRequest(details) => Some(details.clone()),
            Self::Service(ServiceError::Store(
                error @ (StoreError::Full
                | StoreError::NoWrites
                | StoreError::ReadOnly
                | StoreError::NewerSchema { .. }),
            )) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Returns what the log should say of a failure that is ours.
    pub(crate) fn note(&self) -> Option<String> {
        match self {
            Self::Overloaded => Some("Overloaded: no place was free in time".to_owned()),
            Self::Timeout => Some("Timeout: the verb goes on without its caller".to_owned()),
            Self::Internal(note) => Some(format!("Internal: {note}")),
            Self::Service(error) => Some(error.note()),
            _ => None,
        }
    }
}
