/** The formats that clients read. */
export type AnswerFormat = 'chat' | 'responses' | 'messages' | 'gemini' | 'cohere' | 'ollama' | 'converse'

/** An answer as its client sees it: the text, and input and output tokens; null where it says nothing of them. */
export interface ReadAnswer {
  readonly text: string
  readonly tokens: readonly [input: number | undefined, output: number | undefined] | null
}

// biome-ignore lint/suspicious/noExplicitAny: a client reads members without looking at them first
type Part = any

const READERS: Readonly<Record<AnswerFormat, (parts: readonly Part[]) => ReadAnswer>> = {
  chat(parts) {
    const usage = parts.findLast(part => part.usage)?.usage
    return {
      text: joined(parts, ({choices: [choice]}) => (choice?.message ?? choice?.delta)?.content),
      tokens: usage ? [usage.prompt_tokens, usage.completion_tokens] : null,
    }
  },
  responses(parts) {
    const {output, usage} = parts.at(-1).response ?? parts.at(-1)
    const streamed = parts.filter(({type}) => type === 'response.output_text.delta')
    const whole = output.flatMap((item: Part) => item.content ?? []).map(({text}: Part) => text)
    const deltas = streamed.map(({delta}) => delta)
    if (deltas.length > 0 && deltas.join('') !== whole.join('')) throw new Error('The stream and its end differ.')
    return {text: whole.join(''), tokens: [usage.input_tokens, usage.output_tokens]}
  },
  messages(parts) {
    const usage = Object.assign({}, ...parts.map(part => part.message?.usage ?? part.usage ?? {}))
    const text = (part: Part) => (part.type === 'message' ? part.content[0].text : part.delta?.text)
    return {text: joined(parts, text), tokens: [usage.input_tokens, usage.output_tokens]}
  },
  gemini(parts) {
    const usage = parts.at(-1).usageMetadata
    const text = ({candidates: [{content}]}: Part) => content.parts[0].text
    return {text: joined(parts, text), tokens: [usage.promptTokenCount, usage.candidatesTokenCount]}
  },
  cohere([{message, usage}]) {
    return {text: message.content[0].text, tokens: [usage.tokens.input_tokens, usage.tokens.output_tokens]}
  },
  ollama(parts) {
    const {prompt_eval_count, eval_count} = parts.at(-1)
    return {text: joined(parts, ({message}) => message.content), tokens: [prompt_eval_count, eval_count]}
  },
  converse([{output, usage}]) {
    return {text: output.message.content[0].text, tokens: [usage.inputTokens, usage.outputTokens]}
  },
}

export function readAnswer(format: AnswerFormat, body: string): ReadAnswer {
  return READERS[format](partsOf(body))
}

/** One JSON text, JSON by lines, or events. */
function partsOf(body: string): Part[] {
  const is_stream = /^(?:data|event|:)/.test(body)
  const texts = is_stream
    ? body.split(/\r?\n/).flatMap(line => (/^data:(?! ?\[DONE\])/.test(line) ? [line.slice('data:'.length)] : []))
    : body.trim().split('\n')
  return texts.map(text => JSON.parse(text))
}

function joined(parts: readonly Part[], text: (part: Part) => string | undefined): string {
  return parts.map(part => text(part) ?? '').join('')
}
