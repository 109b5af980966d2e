/** A row of the results: what it used, one that failed, or one that was answered and does not say what it used. */
export type VendorRow =
  | {readonly input: number; readonly output: number; readonly model?: string; readonly more?: object}
  | 'failed'
  | 'mute'

export interface VendorState {
  readonly ended: boolean
  readonly rows: readonly VendorRow[]
}

type Answer = {readonly json: object} | {readonly lines: readonly object[]} | null

/** How one vendor's batches are begun and read, and how its API answers. */
export interface BatchVendor {
  readonly name: string
  readonly kind: string
  /** Of its integration. */
  readonly options?: object
  /** The path of the vendor's base URL. */
  readonly base: string
  /** The path of the call that begins one. */
  readonly create: string
  /** Its body; one model for each row, or for the job. */
  request(models: readonly string[]): object
  /** Reads of a batch that is under way. */
  readonly shows: readonly string[]
  /** Reads that show that it has ended. */
  readonly reads: readonly string[]
  readonly removes?: string
  /** The rows are in a file alone, in OpenAI's words: what of them cannot be read is passed over. */
  readonly is_indirect?: true
  /** A `model` beside the one that runs is passed over by the vendor. */
  readonly takes_decoy?: true
  /** One model runs every row. */
  readonly one_model: boolean
  /** The results are in a file. */
  readonly has_file: boolean
  /** The vendor has a path for results, `reads[0]`. */
  readonly has_results_path?: boolean
  lines(rows: readonly VendorRow[]): readonly object[]
  answer(method: string, path: string, state: VendorState): Answer
}

const isAnswered = (row: VendorRow) => row !== 'failed'
const requests = (models: readonly string[], of: (model: string, at: number) => object) => models.map(of)

const anthropicRow = (row: VendorRow, at: number) => ({
  custom_id: `r-${at}`,
  result:
    row === 'failed'
      ? {type: 'errored', error: {type: 'error', error: {type: 'invalid_request_error', message: 'No.'}}}
      : {
          type: 'succeeded',
          message: {
            ...{type: 'message', id: `msg_${at}`, content: []},
            model: row === 'mute' ? 'tested' : (row.model ?? 'tested'),
            usage:
              row === 'mute'
                ? {}
                : {input_tokens: row.input, output_tokens: row.output, service_tier: 'batch', ...row.more},
          },
        },
})

const geminiRow = (row: VendorRow, at: number) =>
  row === 'failed'
    ? {key: `r-${at}`, error: {code: 3, message: 'No.'}}
    : {
        key: `r-${at}`,
        response: {
          candidates: [],
          modelVersion: row === 'mute' ? 'tested' : (row.model ?? 'tested'),
          ...(row !== 'mute' && {
            usageMetadata: {promptTokenCount: row.input, candidatesTokenCount: row.output, ...row.more},
          }),
        },
      }

const openaiRow = (row: VendorRow, at: number) => ({
  id: `row_${at}`,
  custom_id: `r-${at}`,
  response:
    row === 'failed'
      ? {status_code: 400, body: {error: {message: 'No.'}}}
      : {
          status_code: 200,
          body: {
            model: row === 'mute' ? 'tested' : (row.model ?? 'tested'),
            ...(row !== 'mute' && {usage: {prompt_tokens: row.input, completion_tokens: row.output, ...row.more}}),
          },
        },
  error: row === 'failed' ? {message: 'No.'} : null,
})

function anthropic(name: string, base: string): BatchVendor {
  const batch = ({ended, rows}: VendorState) => ({
    ...{id: 'msgbatch_1', type: 'message_batch', processing_status: ended ? 'ended' : 'in_progress', results_url: null},
    request_counts: {
      succeeded: ended ? rows.filter(isAnswered).length : 0,
      errored: 0,
      canceled: 0,
      expired: 0,
      processing: 0,
    },
  })
  return {
    ...{
      name,
      kind: 'anthropic',
      base: '/v1',
      one_model: false,
      has_file: true,
      has_results_path: true,
      takes_decoy: true,
    },
    create: base,
    request: models => ({
      requests: requests(models, (model, at) => ({
        custom_id: `r-${at}`,
        params: {model, max_tokens: 8, messages: [{role: 'user', content: 'hi'}]},
      })),
    }),
    shows: [`${base}/msgbatch_1`, base],
    reads: [`${base}/msgbatch_1/results`, `${base}/msgbatch_1`, base],
    removes: `${base}/msgbatch_1`,
    lines: rows => rows.map(anthropicRow),
    answer(method, path, state) {
      if (path === '/v1/messages/batches')
        return {json: method === 'POST' ? batch({...state, ended: false}) : {data: [batch(state)]}}
      if (path === '/v1/messages/batches/msgbatch_1')
        return {json: method === 'DELETE' ? {id: 'msgbatch_1', type: 'message_batch_deleted'} : batch(state)}
      return path === '/v1/messages/batches/msgbatch_1/results' && state.ended
        ? {lines: state.rows.map(anthropicRow)}
        : null
    },
  }
}

function gemini(name: string, is_inline: boolean): BatchVendor {
  const operation = ({ended, rows}: VendorState) => ({
    name: 'batches/b1',
    metadata: {
      model: 'models/tested',
      state: ended ? 'BATCH_STATE_SUCCEEDED' : 'BATCH_STATE_RUNNING',
      batchStats: {
        requestCount: String(rows.length),
        ...(ended && {successfulRequestCount: String(rows.filter(isAnswered).length)}),
      },
    },
    ...(ended && {
      done: true,
      response: is_inline
        ? {inlinedResponses: {inlinedResponses: rows.map(geminiRow)}}
        : {responsesFile: 'files/batch-b1'},
    }),
  })
  return {
    ...{name, kind: 'google', base: '', one_model: true, has_file: !is_inline},
    create: '/v1/proxy/v1beta/models/tested:batchGenerateContent',
    request: models => ({
      batch: {
        displayName: 'b',
        inputConfig: is_inline
          ? {requests: {requests: requests(models, model => ({request: {model: `models/${model}`, contents: []}}))}}
          : {fileName: 'files/in', model: models[0]},
      },
    }),
    shows: ['/v1beta/batches/b1', '/v1/proxy/v1beta/batches'],
    reads: ['/v1beta/batches/b1', '/v1/proxy/v1beta/batches'],
    removes: '/v1beta/batches/b1',
    lines: rows => rows.map(geminiRow),
    answer(method, path, state) {
      if (path.endsWith(':batchGenerateContent')) return {json: operation({...state, ended: false})}
      if (path === '/v1beta/batches') return {json: {operations: [operation(state)]}}
      if (path === '/v1beta/batches/b1') return {json: method === 'DELETE' ? {} : operation(state)}
      return path === '/download/v1beta/files/batch-b1:download' ? {lines: state.rows.map(geminiRow)} : null
    },
  }
}

const mistral: BatchVendor = {
  ...{name: 'Mistral, a file', kind: 'mistral-ai', base: '/v1', one_model: true, has_file: true},
  create: '/v1/batch/jobs',
  request: models => ({
    endpoint: '/v1/chat/completions',
    model: models[0],
    requests: requests(models, (_, at) => ({custom_id: `r-${at}`, body: {messages: []}})),
  }),
  shows: ['/v1/batch/jobs/j1', '/v1/proxy/batch/jobs'],
  reads: ['/v1/batch/jobs/j1', '/v1/proxy/batch/jobs'],
  removes: '/v1/batch/jobs/j1',
  lines: rows => rows.map(openaiRow),
  answer(method, path, state) {
    const {ended, rows} = state
    const job = {
      ...{
        id: 'j1',
        object: 'batch',
        endpoint: '/v1/chat/completions',
        model: 'tested',
        status: ended ? 'SUCCESS' : 'RUNNING',
      },
      ...(ended && {output_file: 'out-1', succeeded_requests: rows.filter(isAnswered).length}),
    }
    if (path === '/v1/batch/jobs')
      return {json: method === 'POST' ? {...job, status: 'QUEUED', output_file: null} : {data: [job]}}
    if (path === '/v1/batch/jobs/j1') return {json: job}
    return path === '/v1/files/out-1/content' ? {lines: rows.map(openaiRow)} : null
  },
}

const ARN = 'arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/j1'
const bedrockRow = (row: VendorRow, at: number) => ({
  recordId: `r-${at}`,
  modelInput: {},
  ...(row === 'failed'
    ? {error: {errorCode: 400, errorMessage: 'No.'}}
    : {
        modelOutput: {
          content: [],
          ...(row !== 'mute' && {
            model: row.model ?? 'tested',
            usage: {input_tokens: row.input, output_tokens: row.output, ...row.more},
          }),
        },
      }),
})
const bedrock: BatchVendor = {
  ...{name: 'Bedrock, an object in S3', kind: 'bedrock', base: '', one_model: true, has_file: true, takes_decoy: true},
  options: {
    ...{aws_auth_type: 'accessKey', aws_region: 'us-east-1'},
    ...{aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'},
  },
  create: '/v1/proxy/model-invocation-job',
  request: models => ({
    ...{jobName: 'j', roleArn: 'arn:aws:iam::123456789012:role/r', modelId: models[0]},
    inputDataConfig: {s3InputDataConfig: {s3Uri: 's3://rows-in/in.jsonl'}},
    outputDataConfig: {s3OutputDataConfig: {s3Uri: 's3://rows-out/'}},
  }),
  shows: [`/v1/proxy/model-invocation-job/${encodeURIComponent(ARN)}`],
  reads: [`/v1/proxy/model-invocation-job/${encodeURIComponent(ARN)}`, '/v1/proxy/model-invocation-jobs'],
  lines: rows => rows.map(bedrockRow),
  answer(method, path, {ended, rows}) {
    const job = {
      ...{jobArn: ARN, modelId: 'tested', status: ended ? 'Completed' : 'InProgress'},
      inputDataConfig: {s3InputDataConfig: {s3Uri: 's3://rows-in/in.jsonl'}},
      outputDataConfig: {s3OutputDataConfig: {s3Uri: 's3://rows-out/'}},
    }
    if (method === 'POST') return {json: {jobArn: ARN}}
    if (path === '/model-invocation-jobs') return {json: {invocationJobSummaries: [job]}}
    if (decodeURIComponent(path) === `/model-invocation-job/${ARN}`) return {json: job}
    return path === '/rows-out/j1/in.jsonl.out' ? {lines: rows.map(bedrockRow)} : null
  },
}

const openai: BatchVendor = {
  ...{name: 'OpenAI, below /proxy/', kind: 'openai', base: '/v1', one_model: false, has_file: true},
  create: '/v1/proxy/batches',
  request: () => ({input_file_id: 'in-1', endpoint: '/v1/chat/completions', completion_window: '24h'}),
  is_indirect: true,
  shows: ['/v1/proxy/batches/batch_1', '/v1/proxy/batches', '/v1/batches/batch_1'],
  reads: ['/v1/proxy/batches/batch_1', '/v1/proxy/batches', '/v1/batches/batch_1'],
  lines: rows => rows.map(openaiRow),
  answer(method, path, {ended, rows}) {
    const batch = {
      ...{
        id: 'batch_1',
        object: 'batch',
        endpoint: '/v1/chat/completions',
        status: ended ? 'completed' : 'in_progress',
      },
      output_file_id: ended ? 'out-1' : null,
    }
    if (path === '/v1/batches')
      return {json: method === 'POST' ? {...batch, status: 'validating'} : {object: 'list', data: [batch]}}
    if (path === '/v1/batches/batch_1') return {json: batch}
    return path === '/v1/files/out-1/content' ? {lines: rows.map(openaiRow)} : null
  },
}

export const VENDORS: readonly BatchVendor[] = [
  anthropic('Anthropic, its own path', '/v1/messages/batches'),
  anthropic('Anthropic, below /proxy/', '/v1/proxy/messages/batches'),
  gemini('Gemini, replies in the operation', true),
  gemini('Gemini, a file', false),
  mistral,
  bedrock,
  openai,
]
