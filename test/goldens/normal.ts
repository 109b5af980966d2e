/**
 * What differs from run to run, and how goldens write it: each rule with its why. Everything else is compared byte for
 * byte; the time of day is one moment (`scene.ts`), so that dates, windows of limits and signed dates are compared too.
 */
interface Rule {
  readonly why: string
  readonly finds: RegExp
  readonly writes: string
}

export const RULES: readonly Rule[] = [
  {why: 'how long something took, in a header', finds: /(;dur=)[\d.]+/g, writes: '$1<ms>'},
  {
    why: 'how long something took, in a row',
    finds: /("?[a-z_]+_ms"?: ?)[\d.]+(e-\d+)?(?=[,}\n]|$)/gm,
    writes: '$1<ms>',
  },
  {why: 'how long a guardrail took', finds: /("execution_time":)[\d.]+(e-\d+)?/g, writes: '$1<ms>'},
  {why: 'the date of an answer that node:http writes', finds: /^(Date: ).*GMT/gm, writes: '$1<date>'},
  {why: 'a span id is random', finds: /^(span_id: )[\da-f]{16}$/gm, writes: '$1<span>'},
  {why: 'the chain goes over every entry before', finds: /^(chain: )[\da-f]{64}$/gm, writes: '$1<hash>'},
  {why: 'entries count up over all rows', finds: /^(sequence: )\d+$/gm, writes: '$1<number>'},
  {why: 'the version is that of the package', finds: /(gateway\/)\d+\.\d+\.\d+[-\w.]*/g, writes: '$1<version>'},
  {why: 'it signs the port of the provider', finds: /(Signature=)[\da-f]{64}/g, writes: '$1<hash>'},
  {why: 'it signs the port of the provider (Oracle)', finds: /(signature=")[\w+/=]+"/g, writes: '$1<signature>"'},
  {why: 'the key of a WebSocket is random', finds: /(sec-websocket-key: )[\w+/=]{24}/gi, writes: '$1<key>'},
]

const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g

/**
 * `text` of one row without what differs from run to run. `names`: ids and addresses that have a name; others are
 * counted.
 */
export function normal(text: string, names: ReadonlyMap<string, string>): string {
  let plain = text
  for (const [id, name] of names) plain = plain.replaceAll(id, id.startsWith('127.0.0.1:') ? name : `<${name}>`)
  for (const {finds, writes} of RULES) plain = plain.replace(finds, writes)
  // an id stands for the same wherever it comes again in the row: that stays to be seen
  const found = new Map<string, string>()
  return plain.replace(UUID, id => {
    if (!found.has(id)) found.set(id, `<id ${found.size + 1}>`)
    return found.get(id)!
  })
}
