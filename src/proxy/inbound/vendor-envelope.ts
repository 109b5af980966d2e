import type {Refusal} from '../../base/errors.ts'
import {isGooglePath} from './doors.ts'
import type {ClientWords} from './error-ids.ts'

/** A refusal in the words of the vendor whose client reads it, and no others. */
export interface VendorEnvelope {
  readonly body: object
  /** Name, value, ... */
  readonly headers: readonly string[]
}

interface Vendor {
  isOf(path: string, headers: ClientWords['headers']): boolean
  envelope(status: number, message: string): VendorEnvelope
}

/** By the path after `/v1`, or at the root; a client that writes the path of another vendor, by its name. */
const VENDORS: readonly Vendor[] = [
  // google.rpc.Status: https://cloud.google.com/apis/design/errors
  {
    isOf: isGooglePath,
    envelope: (code, message) => ({body: {error: {code, message, status: googleStatus(code)}}, headers: []}),
  },
  // Ollama: https://docs.ollama.com/api/errors
  {isOf: path => path.startsWith('/api/'), envelope: asText},
  // Cohere: https://docs.cohere.com/reference/errors
  {isOf: path => path.startsWith('/v2/'), envelope: (_, message) => ({body: {message}, headers: []})},
  // Bedrock:
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
  {
    isOf: path =>
      /^\/model\/.+\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/.test(path),
    envelope: (status, message) => ({
      body: {message},
      headers: ['x-amzn-errortype', AWS_ERROR[status] ?? awsError(status)],
    }),
  },
  // Hugging Face, whose client chats at OpenAI's path: https://github.com/huggingface/huggingface.js
  {isOf: (_, headers) => headers['user-agent']?.startsWith('@huggingface/inference/') ?? false, envelope: asText},
]

function asText(_: number, error: string): VendorEnvelope {
  return {body: {error}, headers: []}
}

/** Null where neither path nor client is a vendor's own. */
export function vendorEnvelope(
  {status, message}: Pick<Refusal, 'status' | 'message'>,
  {path, headers}: ClientWords,
): VendorEnvelope | null {
  return VENDORS.find(({isOf}) => isOf(path, headers))?.envelope(status, message) ?? null
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
