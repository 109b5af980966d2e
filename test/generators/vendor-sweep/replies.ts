import type {Answer} from '../../support/provider.ts'

export const IN = 100_000
export const OUT = 5000

// With members that inform alone: they make no row say that something was not counted.
const parts = {prompt_tokens_details: {text_tokens: IN}, completion_tokens_details: {accepted_prediction_tokens: 3}}
const openai = {
  prompt_tokens: IN,
  completion_tokens: OUT,
  input_tokens: IN,
  output_tokens: OUT,
  total_tokens: IN + OUT,
  ...parts,
}
const anthropic = {input_tokens: IN, output_tokens: OUT, server_tool_use: {web_fetch_requests: 2}}
const gemini = {promptTokenCount: IN, candidatesTokenCount: OUT, totalTokenCount: IN + OUT, initialPromptTokenCount: 7}
const interactions = {total_input_tokens: IN, total_output_tokens: OUT, total_tokens: IN + OUT}

/**
 * A reply that holds a usage in its vendor's words, whatever it answers. Of a list or an upload, what its client reads
 * first.
 */
function replyTo(kind: string, path: string, tells_usage: boolean): object {
  const told = (usage: object) => (tells_usage ? usage : {})
  if (kind === 'openai') {
    const words = {
      id: 'x_1',
      object: 'object',
      model: 'gpt-4o',
      status: 'completed',
      choices: [],
      output: [],
      data: [],
      has_more: false,
    }
    return {...words, ...told({usage: openai})}
  }
  if (kind === 'anthropic') {
    const results_url = `${path.split('?', 1)[0]}/results`
    const words = {
      id: 'x_1',
      type: 'object',
      model: 'claude-opus-4-8',
      role: 'assistant',
      content: [],
      data: [],
      results_url,
      processing_status: 'in_progress',
    }
    return {...words, ...told({usage: anthropic})}
  }
  if (path.includes('/interactions'))
    return {id: 'x_1', model: 'gemini-2.5-flash', status: 'completed', ...told({usage: interactions})}
  const words = {name: nameOf(path), done: true, file: {name: 'files/f_1'}, modelVersion: 'gemini-2.5-flash'}
  return {...words, ...told({usageMetadata: gemini})}
}

/** What begins a batch answers with its name; it is another than the one that is deleted. */
function nameOf(path: string): string {
  if (/:(?:batchGenerateContent|asyncBatchEmbedContent)/.test(path)) return 'batches/b_2'
  return /\/batchPredictionJobs(?:\?|$)/.test(path) ? 'projects/p/locations/l/batchPredictionJobs/2' : 'files/f_1'
}

/** Answers a kind of provider's calls; `origin` is where it stands itself. */
export function answerAs(kind: string, origin: string, tells_usage: boolean): Answer {
  return ({path, headers}, response) => {
    const text = JSON.stringify(replyTo(kind, path, tells_usage))
    if (path.includes('alt=sse'))
      return response.writeHead(200, {'content-type': 'text/event-stream'}).end(`data: ${text}\n\n`)
    const is_upload = headers['x-goog-upload-command'] !== undefined
    const more = is_upload && {
      'x-goog-upload-url': `${origin}/upload/v1beta/files?upload_id=1`,
      'x-goog-upload-status': path.includes('upload_id') ? 'final' : 'active',
    }
    response.writeHead(200, {'content-type': 'application/json', ...more}).end(text)
  }
}
