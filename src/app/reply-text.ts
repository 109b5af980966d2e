/** The text of a reply; throws where it is longer. */
export async function textOf(body: AsyncIterable<Buffer>, max_bytes: number): Promise<string> {
  const parts: Buffer[] = []
  let length_bytes = 0
  for await (const part of body) {
    parts.push(part)
    length_bytes += part.length
    if (length_bytes > max_bytes) throw new Error(`it answered with more than ${max_bytes} bytes`)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Headers, those that come several times as one. */
export function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
