/** The owner of the rows: an organisation, one workspace of it, or one user's keys there. */
export interface LogScope {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
  /** The users whose keys made the calls. */
  readonly user_ids?: readonly string[] | undefined
}

/** Both ends included; one that is absent is open. */
export interface ValueRange<T> {
  readonly least?: T | undefined
  readonly most?: T | undefined
}

/**
 * The conditions that a row must meet; an absent one does not narrow. A list names the allowed values, `metadata` the
 * pairs that must all be there.
 */
export interface LogFilter extends LogScope {
  readonly created_at?: ValueRange<string>
  readonly total_tokens?: ValueRange<number>
  readonly prompt_tokens?: ValueRange<number>
  readonly completion_tokens?: ValueRange<number>
  readonly cost_nanousd?: ValueRange<number>
  readonly models?: readonly string[] | undefined
  readonly provider_models?: readonly {readonly provider: string; readonly model: string}[] | undefined
  readonly statuses?: readonly number[] | undefined
  /** Slugs or ids. */
  readonly providers?: readonly string[] | undefined
  readonly configs?: readonly string[] | undefined
  readonly api_key_ids?: readonly string[] | undefined
  /** Any of these. */
  readonly trace_id?: readonly string[] | undefined
  readonly span_id?: string | undefined
  readonly prompt_slug?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Of the mean of what was thought of the trace: value times weight. */
  readonly feedback?: ValueRange<number>
}
