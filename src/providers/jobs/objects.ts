import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** OpenAI's objects of files, batches and fine-tuning (OpenAI API reference), whole: clients read every member. */

export interface FileFacts {
  readonly id: string
  readonly bytes: number
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly filename: string
  readonly purpose: string
  readonly status?: 'uploaded' | 'processed' | 'error'
  readonly status_details?: string | null
}

export function fileObject({status = 'processed', status_details = null, ...facts}: FileFacts): Json {
  return {object: 'file', ...facts, status, status_details}
}

export type BatchStatus =
  | 'validating'
  | 'failed'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'expired'
  | 'cancelling'
  | 'cancelled'

export interface BatchFacts {
  readonly id: string
  readonly status: BatchStatus
  readonly endpoint: string
  readonly input_file_id: string
  readonly created_at: number | null
  readonly model?: string | null
  readonly completion_window?: string
  readonly output_file_id?: string | null
  readonly error_file_id?: string | null
  readonly in_progress_at?: number | null
  readonly ended_at?: number | null
  readonly expires_at?: number | null
  readonly counts?: {readonly total: number; readonly completed: number; readonly failed: number} | null
  readonly tokens?: {readonly input: number; readonly output: number} | null
  readonly failure?: string | null
  readonly metadata?: Json | null
}

/** `ended_at` is named after the status that the batch ended with. */
export function batchObject(facts: BatchFacts): Json {
  const {status, ended_at = null, failure, tokens} = facts
  const ended = (as: BatchStatus) => (status === as ? ended_at : null)
  return {
    id: facts.id,
    object: 'batch',
    endpoint: facts.endpoint,
    model: facts.model ?? null,
    errors: failure
      ? {object: 'list', data: [{code: 'batch_failed', message: failure, param: null, line: null}]}
      : null,
    input_file_id: facts.input_file_id,
    completion_window: facts.completion_window ?? '24h',
    status,
    output_file_id: facts.output_file_id ?? null,
    error_file_id: facts.error_file_id ?? null,
    created_at: facts.created_at ?? 0,
    in_progress_at: facts.in_progress_at ?? null,
    expires_at: facts.expires_at ?? null,
    finalizing_at: null,
    completed_at: ended('completed'),
    failed_at: ended('failed'),
    expired_at: ended('expired'),
    cancelling_at: null,
    cancelled_at: ended('cancelled'),
    request_counts: facts.counts ?? {total: 0, completed: 0, failed: 0},
    ...(tokens && {usage: usageOf(tokens)}),
    metadata: facts.metadata ?? null,
  }
}

function usageOf({input, output}: NonNullable<BatchFacts['tokens']>): Json {
  return {
    input_tokens: input,
    input_tokens_details: {cached_tokens: 0},
    output_tokens: output,
    output_tokens_details: {reasoning_tokens: 0},
    total_tokens: input + output,
  }
}

export type TuneStatus = 'validating_files' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface TuneFacts {
  readonly id: string
  readonly status: TuneStatus
  readonly model: string
  readonly created_at: number | null
  readonly finished_at?: number | null
  readonly fine_tuned_model?: string | null
  readonly training_file: string
  readonly validation_file?: string | null
  readonly hyperparameters?: Json
  readonly trained_tokens?: number | null
  readonly failure?: string | null
}

export function tuneObject(facts: TuneFacts): Json {
  const {failure, hyperparameters = {}} = facts
  return {
    id: facts.id,
    object: 'fine_tuning.job',
    created_at: facts.created_at ?? 0,
    error: failure ? {code: 'job_failed', message: failure, param: null} : null,
    fine_tuned_model: facts.fine_tuned_model ?? null,
    finished_at: facts.finished_at ?? null,
    hyperparameters: {n_epochs: 'auto', batch_size: 'auto', learning_rate_multiplier: 'auto', ...hyperparameters},
    model: facts.model,
    organization_id: '',
    result_files: [],
    seed: 0,
    status: facts.status,
    trained_tokens: facts.trained_tokens ?? null,
    training_file: facts.training_file,
    validation_file: facts.validation_file ?? null,
    estimated_finish: null,
    integrations: [],
    metadata: null,
  }
}

/** The numbers of a fine-tuning job, under `hyperparameters` or the method's; `auto` is left to the provider. */
export function hyperparametersIn({hyperparameters, method}: Json): Json {
  const of_method = isObject(method) && isObject(method.supervised) ? method.supervised.hyperparameters : undefined
  const values = isObject(hyperparameters) ? hyperparameters : isObject(of_method) ? of_method : {}
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== 'auto'),
  )
}

/** A text that cannot be done without. */
export function needed(body: Json, name: string, why = 'expected a string'): string {
  const value = textAt(body, name)
  if (value === undefined) throw new UnsupportedInputFault(name, why)
  return value
}

export function textAt(body: Json, name: string): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw new UnsupportedInputFault(name, 'expected a string')
  return value
}

/** A time as providers write it, RFC 3339 or seconds since the epoch, in whole seconds; null where there is none. */
export function seconds(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.floor(value)
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(ms) ? Math.floor(ms / 1000) : null
}

/** A count as providers write it, a number or its digits; 0 where there is none. */
export function whole(count: unknown): number {
  const value = typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : count
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

export function known<Status>(map: Readonly<Record<string, Status>>, status: unknown, usual: Status): Status {
  return typeof status === 'string' && Object.hasOwn(map, status) ? map[status]! : usual
}

/** The objects of a list; none where there is no list. */
export function itemsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A metadata object that says something; else null. */
export function metadataIn({metadata}: Json): Json | null {
  return isObject(metadata) && Object.keys(metadata).length > 0 ? metadata : null
}

/** Of `provider_options`, the members that a job may take from a client; the rest is refused. */
export function optionsFrom({provider_options: options}: Json, names: readonly string[]): Json {
  if (options === undefined || options === null) return {}
  if (!isObject(options)) throw new UnsupportedInputFault('provider_options', 'expected an object')
  for (const name of Object.keys(options))
    if (!names.includes(name))
      throw new UnsupportedInputFault(`provider_options.${name}`, `expected one of ${names.join(', ')}`)
  return options
}
