/** The tokens that an answer says it used: of the whole answer, or of the event of its stream that has them. */
export function spentIn(text: string): number {
  const bodies = text.startsWith('data: ')
    ? text.split('\n').flatMap(line => (/^data: \{/.test(line) ? [line.slice('data: '.length)] : []))
    : [text]
  const used = bodies.map(
    body => (JSON.parse(body) as {usage?: {total_tokens: number} | null}).usage?.total_tokens ?? 0,
  )
  return Math.max(0, ...used)
}
