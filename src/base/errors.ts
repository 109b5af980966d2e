const NOT_KNOWN = {status: 401, admin: 'AB05', type: 'authentication_error', code: '03'} as const
const EXHAUSTED = {status: 412, admin: 'AB03', type: 'api_key_exhaust_error', code: '04'} as const
const BUSY = {status: 503, admin: 'AB04', type: 'overloaded_error', code: null} as const
const NOT_ALLOWED = {status: 403, admin: 'AB03', type: 'permission_error', code: '033'} as const

/**
 * Every refusal the service can utter: code → status, sentence, and the codes that travel with it.
 * `admin` is the control plane's errorCode (AB01-AB09), `type` and `code` the data plane's (decisions: errors).
 * Words in `{}` are filled from `details`.
 */
// biome-ignore format: a table is read by its lines
export const REFUSALS = {
  'key.missing': {status: 401, admin: 'AB05', type: 'authentication_error', code: '03', say: 'No API key was sent. Send it as {header}, or as Authorization: Bearer.'},
  'key.unknown': {status: 401, admin: 'AB05', type: 'authentication_error', code: '03', say: 'The API key is not known to this gateway. Check that it is whole and was not deleted.'},
  'key.expired': {status: 401, admin: 'AB05', type: 'authentication_error', code: '01', say: 'The API key expired at {expires_at}. Create a new one.'},
  'key.needs_sign_in': {...NOT_ALLOWED, say: 'The person of this API key has not signed in for {days} days. The key works again after the next sign-in{place}.'},
  'key.exhausted': {...EXHAUSTED, say: 'The usage limit of the API key {key} is used up.{standing}{hint}'},
  'key.admin_inference': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'An admin key cannot call models. Use a workspace key.'},
  'key.rate_reached': {status: 429, admin: 'AB06', type: 'rate_limit_exceeded', code: '05', say: 'The rate limit {limit} is reached; try again in {retry_after_s} seconds.{hint}'},
  'workspace.exhausted': {status: 412, admin: 'AB03', type: 'workspace_exhaust_error', code: '04', say: 'The usage limit of the workspace {workspace} is used up.{standing}{hint}'},
  'limit.unavailable': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, retry_after_s: 2, say: 'The limit {limit} is strict and cannot be held now, so no call is let through.'},
  'limit.unpriced': {status: 412, admin: 'AB03', type: 'model_not_priced_error', code: null, say: 'The model {model} of {provider} has no price, and {limit} is a strict limit of cost: a call whose cost nobody knows is not let through.'},
  'limit.unpriced_unit': {status: 412, admin: 'AB03', type: 'model_not_priced_error', code: null, say: 'This call may use {units} of {model} at {provider}, which has no price, and {limit} is a strict limit of cost: a call whose cost nobody knows is not let through.'},
  'delegation.refused': {status: 403, admin: 'AB03', type: 'permission_error', code: null, say: '{operation} hands the client a credential of the provider, with which it goes past every limit, list and log, and {reason}.'},
  'limit.unmetered': {status: 412, admin: 'AB03', type: 'model_not_priced_error', code: null, say: 'What {operation} costs cannot be known, and {limit} is a strict limit of cost: a call whose cost nobody knows is not let through.'},
  'limit.unbounded': {status: 412, admin: 'AB03', type: 'usage_unbounded_error', code: null, say: 'What this call may use has no bound, because of {what}, and {limit} is a strict limit: it takes only calls whose largest usage is known. To call under it, {remedy}.'},
  'workspace.archived': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'The workspace of this API key is archived.'},
  'scope.missing': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'You do not have enough permissions to execute this request: it needs the scope {scope}.'},
  'session.unknown': {status: 401, admin: 'AB05', type: 'authentication_error', code: '03', say: 'The session is not known to this gateway, or was ended. Create a new one.'},
  'session.expired': {status: 401, admin: 'AB05', type: 'authentication_error', code: '01', say: 'The session expired at {expires_at}. Create a new one.'},
  'session.way': {...NOT_ALLOWED, say: 'This organisation lets people in by its own sign-in alone: /v2/auth/login.'},
  'page.foreign': {...NOT_ALLOWED, say: 'This request did not come from this gateway’s own pages.'},
  'token.unreadable': {...NOT_KNOWN, say: 'The token is not a JWT that this gateway can read: {reason}.'},
  'token.algorithm': {...NOT_KNOWN, say: 'The token is signed with {algorithm}; accepted here: {accepted}.'},
  'token.type': {...NOT_KNOWN, say: 'The token is of the type {type}; accepted here: JWT and at+jwt.'},
  'token.key': {...NOT_KNOWN, say: 'Error verifying the token: signing key not found.'},
  'token.keys_silent': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, retry_after_s: 2, say: 'The keys that sign tokens could not be read. Try again shortly.'},
  'token.signature': {...NOT_KNOWN, say: 'Error verifying the token: the signature does not match.'},
  'token.time': {status: 401, admin: 'AB05', type: 'authentication_error', code: '01', say: 'The token {reason}.'},
  'token.audience': {...NOT_KNOWN, say: 'The token is not meant for this gateway ({claim}).'},
  'token.subject': {...NOT_ALLOWED, say: 'The subject of the token is not allowed here.'},
  'token.scopes': {...NOT_ALLOWED, say: 'The token has no scope that this gateway knows.'},
  'token.disabled': {...NOT_ALLOWED, say: 'Tokens are not accepted here.'},
  'token.organisation': {...NOT_KNOWN, say: '{reason}'},
  'token.not_served': {...NOT_ALLOWED, say: 'The organisation {organisation} is not served by this gateway.'},
  'token.unbound': {...NOT_ALLOWED, say: 'Tokens without an organisation claim need jwt.issuer and jwt.audiences.'},
  'token.no_keys': {...NOT_ALLOWED, say: 'The organisation has no key set for tokens. Set jwt.jwks_url or jwt.jwks.'},
  'token.workspace': {...NOT_ALLOWED, say: 'The workspace {workspace} is not open to this token.'},
  'token.workspace_missing': {...NOT_ALLOWED, say: 'The token names no workspace (workspace_slug).'},
  'token.person': {...NOT_ALLOWED, say: 'The person of this token no longer has access.'},
  'token.limits': {...NOT_KNOWN, say: 'The limits in the token are not valid: {issues}'},
  'token.exhausted': {...EXHAUSTED, say: 'The usage limit of this token is used up.{standing}{hint}'},
  'directory.failed': {status: 502, admin: 'AB04', type: 'connection_error', code: null, say: 'The directory of {connection} did not say who is there, so no one was archived: {reason}.'},
  'invite.unknown': {status: 401, admin: 'AB05', type: 'authentication_error', code: '03', say: 'The invite is not known to this gateway, was used, cancelled or sent anew, or has expired. Ask for a new one.'},
  'role.above': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'You do not have enough permissions to execute this request: the role {role} is above your own, {own}.'},
  'role.own_only': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'You do not have enough permissions to execute this request: {deed} is for managers and admins of the workspace.'},
  'role.admins_only': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'You do not have enough permissions to execute this request: {deed} is for owners and admins of the organisation.'},
  'flag.off': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'This part of the service is switched off here: {variable}=OFF.'},
  'body.not_json': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body is not valid JSON: {reason}.'},
  'json.too_deep': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: '{what} is nested deeper than the {limit} levels that are read here.'},
  'body.duplicate_key': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body names "{key}" more than once at its top level. Send it once.'},
  'body.repeated_key': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body names {path} more than once, so that what guardrails judge might not be what the provider reads. Send it once.'},
  'body.invalid': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: '{issues}'}, 'body.too_large': {status: 413, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body is larger than the {limit_mb} MB this gateway accepts (MAX_JSON_PAYLOAD_SIZE_IN_MB).'},
  'spans.unreadable': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body is not an OTLP request in protobuf: {reason}.'}, 'spans.too_many': {status: 413, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request has more than the {most} spans that are taken at once. Send fewer in each.'}, 'spans.type': {status: 415, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The content type {content_type} is none of OTLP: application/json and application/x-protobuf are.'}, 'spans.busy': {status: 429, admin: 'AB06', type: 'rate_limit_exceeded', code: null, retry_after_s: 1, say: 'Too many requests with spans wait to be taken. Send this one again shortly.'}, 'body.untranslatable': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The provider {provider} cannot take this request. {reason}'},
  'body.content_type': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The content type {content_type} is not accepted here; send {expected}.'},
  'body.encoding': {status: 415, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The content encoding {encoding} is not accepted here; send one or two of {expected}, or none.'},
  'body.not_encoded': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request body cannot be decoded: it is not whole, or not {encoding}, as its content-encoding says.'},
  'text.half_character': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: '{what} holds half a character (a surrogate without the other of its pair), which no URL can hold. Send whole Unicode characters.'},
  'value.unfit': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'A value of this request cannot be looked up, as it has NUL, half a character, or is too long. Check the names and ids in its path, headers and body.'},
  'header.invalid': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The header {header} is not valid: {reason}.'},
  'provider.missing': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'No provider is named. Send {prefix}-provider, {prefix}-config, or a model such as @my-provider/model.'},
  'provider.unknown': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'No provider is called {provider}.{hint}'},
  'secret.unresolvable': {status: 500, admin: 'AB04', type: 'secret_unresolvable', code: 'secret_unresolvable',
    say: 'The secret reference {reference} does not give {field}: {reason}.'},
  'secret.late': {status: 503, admin: 'AB04', type: 'overloaded_error', code: 'secret_unresolvable', retry_after_s: 2,
    say: 'The secret reference {reference} does not give {field} yet: {reason}. Try again in {retry_after_s} seconds.'},
  'provider.expired': {status: 401, admin: 'AB03', type: 'virtual_key_expired_error', code: '01', say: 'The provider @{provider} expired at {expires_at}.'},
  'provider.exhausted': {status: 412, admin: 'AB03', type: 'virtual_key_exhaust_error', code: '04', say: 'The usage limit of the provider @{provider} is used up.{standing}{hint}'},
  'provider.rate_reached': {status: 429, admin: 'AB06', type: 'virtual_key_rate_limit_error', code: null, say: 'The rate limit {limit} is reached; try again in {retry_after_s} seconds.{hint}'},
  'integration.exhausted': {status: 412, admin: 'AB03', type: 'integration_exhaust_error', code: '04', say: 'The usage limit of the integration {integration} is used up in this workspace.{standing}{hint}'},
  'integration.rate_reached': {status: 429, admin: 'AB06', type: 'integration_rate_limit_error', code: null, say: 'The rate limit {limit} is reached; try again in {retry_after_s} seconds.{hint}'},
  'policy.exhausted': {status: 412, admin: 'AB03', type: 'usage_limits_policy_exhaust_error', code: '06', say: 'The usage limit of the policy {policy} is used up.{standing}{hint}'},
  'policy.rate_reached': {status: 429, admin: 'AB06', type: 'rate_limits_policy_exhaust_error', code: null, say: 'The rate limit {limit} is reached; try again in {retry_after_s} seconds.{hint}'},
  'policy.entities_exhausted': {status: 429, admin: 'AB06', type: 'policy_entities_exhausted', code: 'policy_entities_exhausted', say: 'The policy {policy} counts as many entities as it can, so no call of a further one is let through.{ends}'},
  'provider.no_credentials': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The provider {provider} needs credentials: send Authorization: Bearer, or name a managed provider as @slug.'},
  'provider.login_failed': {status: 502, admin: 'AB04', type: 'authentication_error', code: null, say: 'The credentials of {provider} could not be used: {reason}'},
  'provider.own_identity': {status: 403, admin: 'AB03', type: 'permission_error', code: null, say: 'The gateway’s own identity at {provider} is for its integrations alone; bring credentials, or name one as @slug.'},
  'provider.bound': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: '{option} in {where} says otherwise than the integration of @{provider}, whose credentials go to its own place alone. Leave {option} out, or name the kind {kind} in place of @{provider}, with credentials of your own.'},
  'secret.required': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: 'secret_required', say: 'secret_required: {reason}. {remedy}'},
  'provider.no_host': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The provider {provider} has no address of its own. {remedy}'},
  'provider.unavailable': {status: 501, admin: 'AB04', type: 'not_available_error', code: null, say: 'The provider {provider} is not available in this version.'},
  'endpoint.later': {status: 501, admin: 'AB04', type: 'not_available_error', code: null, say: 'Calls in Gemini’s words ({path}) reach Google’s models alone in this version; for {provider} use /v1/chat/completions.'},
  'endpoint.of_vendor': {status: 501, admin: 'AB04', type: 'not_available_error', code: null, say: 'The provider {provider} has no {path} in Anthropic’s words. {remedy}'},
  'endpoint.unsupported': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The provider {provider} does not offer {endpoint}.'},
  'model.not_allowed': {status: 412, admin: 'AB03', type: 'model_not_allowed_error', code: null, say: 'The model {model} is not allowed for {whose}. GET /v1/models lists the models that are.'},
  'model.too_long': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The name of the model is longer than {limit_bytes} bytes. Send the name that the provider lists.'},
  'model.indirect': {status: 412, admin: 'AB03', type: 'model_not_allowed_error', code: null, say: 'This call runs what was made before, and with which model is not known: {whose} has a list of models. Make it again through this gateway, or name an allowed model in the call where the provider takes one.'},
  'model.unknown': {status: 404, admin: 'AB08', type: 'not_found_error', code: 'model_not_found', say: 'No model is called {model} among those that this key can call. GET /v1/models lists them.'},
  'config.invalid': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: 'AB01', say: 'AB01: the config is not valid: {issues}'},
  'config.unknown': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: 'AB01', say: 'AB01: no config is called {config} in this workspace.'},
  'config.no_match': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: 'AB01', say: 'AB01: {path}: no condition holds for this call, and there is no default target.'},
  'config.no_weight': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: 'AB01', say: 'AB01: {path}: no target was selected; check the weights, all of them are 0.'},
  'config.override_forbidden': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'This API key does not allow a config to be given with the request.'},
  'prompt.unknown': {status: 404, admin: 'AB08', type: 'not_found_error', code: null, say: 'No prompt is called {prompt} in this workspace, or it has no such version or label.'},
  'prompt.unrenderable': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The prompt {prompt} cannot be rendered: {reason}.'},
  'guardrail.denied': {status: 446, admin: 'AB03', type: 'hooks_failed', code: null, say: 'The guardrails of this call failed{where}; hook_results says which.'},
  'rows.unjudged': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'Line {line} of the file {reason}, so that guardrails cannot judge it as a row of a batch.'},
  'rows.redacted': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'Guardrails would change line {line} of the file: {remedy}, or take out what they change.'},
  'rows.late': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, retry_after_s: 2, say: 'Guardrails did not judge line {line} of the file within {limit_ms} ms.'},
  'host.blocked': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'Invalid custom host: {reason}.'}, 'upstream.unreachable': {status: 503, admin: 'AB04', type: 'connection_error', code: null, say: 'The provider {provider} could not be reached: {reason}.'},
  'upstream.broken': {status: 502, admin: 'AB04', type: 'connection_error', code: null, say: 'The provider {provider} closed the connection before it answered.'},
  'upstream.cut': {status: 502, admin: 'AB04', type: 'connection_error', code: null, say: 'The answer of {provider} ended before it was whole.'},
  'upstream.bad_reply': {status: 502, admin: 'AB04', type: 'connection_error', code: null, say: 'Invalid response received from {provider}: {reason}.'},
  'upstream.told': {status: 502, admin: 'AB04', type: 'api_error', code: null, say: '{message}'},
  'upstream.timeout': {status: 408, admin: 'AB04', type: 'timeout_error', code: null, say: 'The provider {provider} did not answer within {limit_ms} ms.'},
  'upstream.queue_full': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, say: 'Too many calls wait for {provider}; try again shortly.'},
  'client.gone': {status: 499, admin: 'AB04', type: 'client_closed_request', code: null, say: 'The client closed the connection before the answer.'},
  'client.slow': {status: 408, admin: 'AB04', type: 'timeout_error', code: null, say: 'The {part} of the request did not come within {limit_ms} ms ({variable}).'},
  'connections.full': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, say: 'The gateway has as many connections as it takes, {limit} (MAX_CONNECTIONS); try again shortly.'},
  'connections.address_full': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, say: 'The gateway has as many connections of this address as it takes, {limit} (MAX_CONNECTIONS_PER_ADDRESS); use those that are open.'},
  'read.too_long': {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, say: 'This takes longer than a read may. Ask for a shorter time, or add filters.'},
  'log_store.failed': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The bodies of calls cannot be read now. {reason}'},
  'vector_store.failed': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2,
    say: 'The vector store cannot be read or cleared now: {reason}.'},
  'store.silent': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The database does not answer now. Try again shortly; a change that was under way may have been made.'},
  'ledger.behind': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The log and the ledger cannot be brought up to date now: {reason}. Nothing is lost; try again shortly.'},
  'store.unwritable': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The database cannot be written now: {reason}. Nothing was changed.'},
  'callers.stale': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The database did not say for {limit_s} seconds (CALLER_CACHE_MAX_STALE_S) which keys are revoked, so no call is let in. Try again shortly.'},
  'journal.full': {status: 503, admin: 'AB04', type: 'storage_error', code: null, retry_after_s: 2, say: 'The gateway cannot record calls now (its journal cannot be written), so it takes none. Free disk space on the data directory.'},
  'journal.outrun': {...BUSY, retry_after_s: 2, say: 'More calls come than the gateway can record on this machine, so it takes none for a moment. Try again shortly.'}, draining: {status: 503, admin: 'AB04', type: 'overloaded_error', code: null, say: 'The gateway is shutting down; send the call again.'}, 'route.unknown': {status: 404, admin: 'AB08', type: 'invalid_request_error', code: null, say: 'Nothing is served at {path}. Calls go to /v1/...'},
  'request.malformed': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request cannot be read as HTTP/1.1: {reason}.'},
  'request.head_too_large': {status: 431, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The request line and the headers are larger than the {limit_kb} KB this gateway accepts. Keep a long config in the gateway, and send its id.'},
  'route.method': {status: 405, admin: 'AB01', type: 'invalid_request_error', code: null, say: '{method} is not served at {path}. To reach a provider endpoint of this name use /v1/proxy{rest}.'},
  'link.unusable': {status: 404, admin: 'AB08', type: 'not_found_error', code: null, say: 'This address of an upload cannot be used: {reason}. {remedy}'},
  'route.later': {status: 501, admin: 'AB04', type: 'not_available_error', code: null, say: '{path} is not available in this version.'}, 'row.not_found': {status: 404, admin: 'AB08', type: 'not_found_error', code: null, say: 'No {object} is known by this id.'}, 'row.exists': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: 'The {field} {value} is taken by another {object}.'},
  'row.unfit': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: '{reason}'},
  'domain.unproven': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: '{reason}'},
  'domain.unlooked': {...BUSY, retry_after_s: 30, say: '{reason}'},
  'domain.unsent': {...BUSY, retry_after_s: 60, say: '{reason}'},
  'domain.too_many': {status: 429, admin: 'AB06', type: 'rate_limit_exceeded', code: null, say: '{reason}'},
  'row.in_use': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: 'This {object} still has {dependants}. {cure}'}, 'parent.not_found': {status: 404, admin: 'AB02', type: 'not_found_error', code: null, say: '{field}: no {object} is known by the id {value}.'}, 'mcp.refused': {status: 403, admin: 'AB03', type: 'permission_error', code: null, say: '{field}: {label}: {reason}'}, 'mcp.unavailable': {status: 502, admin: 'AB04', type: 'api_error', code: null, say: '{field}: {label}: {reason}'},
  'pricing.shared': {status: 403, admin: 'AB03', type: 'permission_error', code: '033', say: 'Prices hold for every organisation of this gateway, so no key of one of them changes them. Use the command line on the data directory.'},
  'pricing.no_revision': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: '{reason}'},
  'bundle.refused': {status: 400, admin: 'AB01', type: 'invalid_request_error', code: null, say: 'The bundle is not taken: {reason}.'},
  'bundle.older': {status: 409, admin: 'AB07', type: 'conflict_error', code: null, say: 'The bundle is not taken: {reason}.'},
  'pricing.no_capabilities': {status: 404, admin: 'AB08', type: 'not_found_error', code: null, say: 'Provider not found'},
  'pricing.unknown': {status: 404, admin: 'AB08', type: 'not_found_error', code: null, say: 'Model not found'}, internal: {status: 500, admin: 'AB04', type: 'internal_error', code: null, say: 'Something went wrong inside the gateway. The log has the cause under the trace id.'},
} as const satisfies Record<string, Refusable>

interface Refusable {
  readonly status: number
  readonly admin: `AB0${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`
  readonly type: string
  readonly code: string | null
  /** When to come back, where it does not depend on the case. */
  readonly retry_after_s?: number
  readonly say: string
}

export type RefusalCode = keyof typeof REFUSALS

/** A request we decline on purpose. `details` fills the sentence and reaches the client; `cause` stays in our log. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly details: Readonly<Record<string, string | number>>

  constructor(code: RefusalCode, details: Record<string, string | number> = {}, options?: ErrorOptions) {
    super(
      REFUSALS[code].say.replace(/\{(\w+)\}/g, (_, word: string) => String(details[word] ?? '')),
      options,
    )
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }

  get status(): number {
    return REFUSALS[this.code].status
  }

  get codes(): Refusable {
    return REFUSALS[this.code]
  }

  /** Seconds until it is worth trying again; null where that is not known. */
  get retry_after_s(): number | null {
    const {retry_after_s} = this.details
    return typeof retry_after_s === 'number' ? retry_after_s : (this.codes.retry_after_s ?? null)
  }
}
