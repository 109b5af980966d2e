import type {Refusal} from '../../base/errors.ts'
import {isGooglePath} from './doors.ts'

/** A refusal in the words of the vendor at whose path it happens: its clients read no others. */
export interface VendorEnvelope {
  readonly body: object
  /** Name, value, ... */
  readonly headers: readonly string[]
}

interface Vendor {
  isAt(path: string): boolean
  envelope(status: number, message: string): VendorEnvelope
}

/** By the path after `/v1`, or at the root. */
const VENDORS: readonly Vendor[] = [
  // google.rpc.Status: https://cloud.google.com/apis/design/errors
  {
    isAt: isGooglePath,
    envelope: (code, message) => ({body: {error: {code, message, status: googleStatus(code)}}, headers: []}),
  },
  // Ollama: https://docs.ollama.com/api/errors
  {isAt: path => path.startsWith('/api/'), envelope: (_, error) => ({body: {error}, headers: []})},
  // Cohere: https://docs.cohere.com/reference/errors
  {isAt: path => path.startsWith('/v2/'), envelope: (_, message) => ({body: {message}, headers: []})},
  // Bedrock:
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
  {
    isAt: path =>
      /^\/model\/.+\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/.test(path),
    envelope: (status, message) => ({
      body: {message},
      headers: ['x-amzn-errortype', AWS_ERROR[status] ?? awsError(status)],
    }),
  },
]

/** Null where the path is no vendor's own. */
export function vendorEnvelope(
  {status, message}: Pick<Refusal, 'status' | 'message'>,
  path: string,
): VendorEnvelope | null {
  return VENDORS.find(({isAt}) => isAt(path))?.envelope(status, message) ?? null
}

/** Google's name of a status (google.rpc.Code), which its clients tell errors apart by. */
function googleStatus(status: number): string {
  return GOOGLE_STATUS[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL')
}

const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
}

function awsError(status: number): string {
  return status < 500 ? 'AccessDeniedException' : 'InternalServerException'
}

const AWS_ERROR: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}
