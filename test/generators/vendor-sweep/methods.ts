/** A method of a vendor's client, by the way that leads to it: `beta.threads.runs.create`. */
export interface ClientMethod {
  readonly name: string
  /** Its code, of which the parameters are read. */
  readonly source: string
}

type Resource = Readonly<Record<string, unknown>>

/** Classes of the clients' own: what they have is no method of the API. */
const BASES: ReadonlySet<string> = new Set(['APIResource', 'Object'])

/**
 * Every method of a generated client (`openai`, `@anthropic-ai/sdk`): of its resources, and of those that stand in
 * them.
 */
export function methodsOf(client: object): readonly ClientMethod[] {
  const seen = new Set<object>()
  const found: ClientMethod[] = []
  const walk = (resource: Resource, path: readonly string[]) => {
    if (seen.has(resource)) return
    seen.add(resource)
    if (path.length > 0)
      for (const name of functionsOf(resource))
        found.push({name: [...path, name].join('.'), source: String(resource[name])})
    for (const [name, value] of Object.entries(resource))
      if (name !== '_client' && isResource(value)) walk(value, [...path, name])
  }
  walk(client as Resource, [])
  return found
}

function functionsOf(resource: object): readonly string[] {
  const names = new Set<string>()
  for (
    let made = Object.getPrototypeOf(resource) as object;
    !BASES.has(made.constructor.name);
    made = Object.getPrototypeOf(made) as object
  )
    for (const [name, {value}] of Object.entries(Object.getOwnPropertyDescriptors(made)))
      if (name !== 'constructor' && typeof value === 'function') names.add(name)
  return [...names]
}

function isResource(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null && '_client' in value
}

/** Calls the method `name` of a client and reads its answer to the end. */
export async function callMethod(client: object, name: string, given: readonly unknown[]): Promise<unknown> {
  const path = name.split('.')
  const last = path.pop()!
  const owner = path.reduce((at, step) => at[step] as Resource, client as Resource) as Record<
    string,
    (...given: unknown[]) => unknown
  >
  return readWhole(await owner[last]!(...given))
}

async function readWhole(answer: unknown): Promise<unknown> {
  if (answer instanceof Response) return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('base64')]
  if (typeof answer !== 'object' || answer === null) return answer
  // A page of a list: its pages after the first are other calls.
  if ('getPaginatedItems' in answer) return (answer as unknown as {body: unknown}).body
  if ('pageInternal' in answer) return (answer as unknown as {pageInternal: unknown}).pageInternal
  if (!(Symbol.asyncIterator in answer)) return answer
  const items: unknown[] = []
  for await (const each of answer as AsyncIterable<unknown>) items.push(each)
  return items
}
