import {z} from 'zod'
import {LogFilters, Word} from './logs.ts'
import {pageParams} from './paging.ts'

/** Most rows of one file. */
export const MAX_EXPORTED = 50_000

export const EXPORTED = [
  'id',
  'trace_id',
  'created_at',
  'request',
  'response',
  'is_success',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'request_url',
  'cost',
  'cost_currency',
  'response_time',
  'response_status_code',
  'mode',
  'config',
  'prompt_slug',
  'metadata',
] as const
export type Exported = (typeof EXPORTED)[number]

export const EXPORT_STATUSES = ['draft', 'in_progress', 'success', 'failed', 'stopped'] as const

const Text = z.string().max(8000).optional()
const Whole = z.int().nonnegative().optional()
const Amount = z.number().nonnegative().optional()
const Feedback = z.number().min(-10).max(10).optional()

/** As queries of the log take them, in the types of JSON. Lists are by commas. */
export const ExportFilters = z
  .strictObject({
    time_of_generation_min: Text,
    time_of_generation_max: Text,
    total_units_min: Whole,
    total_units_max: Whole,
    cost_min: Amount,
    cost_max: Amount,
    ai_model: Text,
    prompt_token_min: Whole,
    prompt_token_max: Whole,
    completion_token_min: Whole,
    completion_token_max: Whole,
    status_code: Text,
    metadata: z.record(z.string(), z.string()).optional(),
    ai_org_model: Text,
    weighted_feedback_min: Feedback,
    weighted_feedback_max: Feedback,
    virtual_keys: Text,
    trace_id: Text,
    configs: Text,
    api_key_ids: Text,
    workspace_slug: Text,
    prompt_slug: Text,
    /** Rows of the file, and how many such files to skip. */
    page_size: z.int().min(1).max(MAX_EXPORTED).optional(),
    current_page: z.int().min(0).max(1_000_000).optional(),
  })
  .superRefine((filters, context) => {
    const result = readFilters(filters)
    if (!result.success)
      for (const {path, message} of result.error.issues) context.addIssue({code: 'custom', path: [...path], message})
  })
export type ExportFilters = z.output<typeof ExportFilters>

const InQuery = z.strictObject(LogFilters)
export type InQuery = z.output<typeof InQuery>

/** The filters as the query of a list would say them. */
export function readFilters({page_size, current_page, ...filters}: ExportFilters) {
  const texts = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : plain(value)]],
  )
  return InQuery.safeParse(Object.fromEntries(texts))
}

/** Numbers of a query have no exponent. */
function plain(value: string | number): string {
  return typeof value === 'string' || Number.isInteger(value) ? String(value) : value.toFixed(12).replace(/0+$/, '')
}

const Fields = z.array(z.enum(EXPORTED)).min(1).max(EXPORTED.length)

export const ExportCreate = z.strictObject({
  workspace_id: Word.optional(),
  filters: ExportFilters,
  requested_data: Fields,
})
export const ExportChange = z.strictObject({
  workspace_id: Word.optional(),
  filters: ExportFilters,
  requested_data: Fields.optional(),
})
export const ExportPath = z.strictObject({exportId: Word})
export const ExportQuery = z.strictObject({workspace_id: Word.optional(), ...pageParams()})
export const ExportFileQuery = z.strictObject({signature: z.string().min(1).max(1000)})

const KIND = z.literal('export')
export const ExportMade = z.strictObject({id: z.string(), total: z.int(), object: KIND})
export const ExportSaid = z.strictObject({message: z.string(), object: KIND})
export const ExportSigned = z.strictObject({signed_url: z.url()})

export const ExportView = z.strictObject({
  id: z.string(),
  organisation_id: z.string(),
  filters: ExportFilters,
  requested_data: Fields,
  status: z.enum(EXPORT_STATUSES),
  /** The outcome: how many rows there are, or why it failed. */
  description: z.string(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  /** The user or key; all zeros are the operator on the data directory. */
  created_by: z.string(),
  workspace_id: z.string(),
  object: KIND,
})
