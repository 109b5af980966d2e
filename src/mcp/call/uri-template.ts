/** A template may have so many expressions; more are taken as one that fits everything. */
const MOST_PARTS = 100
const EXPRESSION = /\{([+#./;?&]?)[^{}]*\}/

/**
 * True where an address may have been made of a template (RFC 6570). An expression stands for any characters but `/`,
 * with an operator for any at all: in doubt it fits, so that a template that is off hides more, not less.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts: {readonly literal: string; readonly crosses: boolean}[] = []
  let rest = template
  for (let found = EXPRESSION.exec(rest); found; found = EXPRESSION.exec(rest)) {
    if (parts.length >= MOST_PARTS) return uri.startsWith(parts[0]!.literal)
    parts.push({literal: rest.slice(0, found.index), crosses: found[1] !== ''})
    rest = rest.slice(found.index + found[0].length)
  }
  if (parts.length === 0) return template === uri
  if (!uri.startsWith(parts[0]!.literal) || !uri.endsWith(rest)) return false
  return fits(parts, rest, uri, parts[0]!.literal.length)
}

/** Each literal is looked for from the left: the places that it may have are kept, so that nothing is tried twice. */
function fits(
  parts: readonly {readonly literal: string; readonly crosses: boolean}[],
  last: string,
  uri: string,
  from: number,
): boolean {
  let places = [from]
  for (const [at, {crosses}] of parts.entries()) {
    const literal = at + 1 < parts.length ? parts[at + 1]!.literal : last
    const is_last = at + 1 === parts.length
    const next = new Set<number>()
    for (const place of places) {
      const slash = crosses ? -1 : uri.indexOf('/', place)
      const end = slash < 0 ? uri.length : slash
      if (is_last) {
        const start = uri.length - literal.length
        if (start >= place && start <= end) return true
        continue
      }
      for (let found = uri.indexOf(literal, place); found >= 0 && found <= end; found = uri.indexOf(literal, found + 1))
        next.add(found + literal.length)
    }
    if (is_last) return false
    places = [...next]
    if (places.length === 0) return false
  }
  return false
}
