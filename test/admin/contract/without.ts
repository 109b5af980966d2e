/**
 * A body without one of its fields; in a list, without that of the first item that has it. Undefined where it has none
 * such.
 */
export function without(body: unknown, field: string): unknown {
  return cut(
    body,
    field.split('.').flatMap(part => part.split(/(?=\[\])/).filter(Boolean)),
  )
}

function cut(node: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || typeof node !== 'object' || node === null) return undefined
  if (step === '[]') {
    if (!Array.isArray(node)) return undefined
    for (const [at, item] of node.entries()) {
      const changed = cut(item, rest)
      if (changed !== undefined) return node.with(at, changed)
    }
    return undefined
  }
  if (Array.isArray(node) || !Object.hasOwn(node, step)) return undefined
  const {[step]: value, ...others} = node as Record<string, unknown>
  if (!rest.length) return others
  const changed = cut(value, rest)
  return changed === undefined ? undefined : {...others, [step]: changed}
}
