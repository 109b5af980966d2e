import {Portkey} from 'portkey-ai'

/** Resources of the `portkey-ai` SDK that call models and providers: not administration (test/proxy/sdk.test.ts). */
const DATA_PLANE = new Set([
  ...[
    'completions',
    'chat',
    'embeddings',
    'files',
    'images',
    'models',
    'batches',
    'fineTuning',
    'vectorStores',
    'moderations',
    'audio',
  ],
  ...['uploads', 'responses', 'evals', 'containers', 'webhooks', 'realtime', 'conversations', 'videos', 'beta'],
])

// biome-ignore lint/suspicious/noExplicitAny: the client's types are of its own service's examples
export type Client = any

/** A method of a resource by its path from the client, for example `prompts.versions.list`. */
export function adminMethods(): string[] {
  const client = new Portkey({apiKey: 'none', baseURL: 'http://127.0.0.1'})
  return roots(client).flatMap(([name, resource]) => methodsOf(resource, name))
}

/** The unmodified SDK; a call that went well is put down in `called` by the path of its method. */
export function recordedClient(options: {apiKey: string; baseURL: string}, called: Set<string>): Client {
  const client = new Portkey({...options, maxRetries: 0} as ConstructorParameters<typeof Portkey>[0])
  for (const [name, resource] of roots(client)) record(resource, name, called)
  return client
}

type Resource = Record<string, unknown>

function roots(client: object): [string, Resource][] {
  return resourcesIn(client).filter(([name]) => !DATA_PLANE.has(name))
}

/**
 * What hangs on a client or a resource and is a resource itself: an object of a class with methods or with resources.
 */
function resourcesIn(parent: object): [string, Resource][] {
  return Object.entries(parent).filter(
    ([name, value]) =>
      name !== 'client' &&
      typeof value === 'object' &&
      value !== null &&
      Object.getPrototypeOf(value) !== Object.prototype,
  ) as [string, Resource][]
}

function ownMethods(resource: Resource): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter(name => name !== 'constructor')
}

function methodsOf(resource: Resource, path: string): string[] {
  const below = resourcesIn(resource).flatMap(([name, child]) => methodsOf(child, `${path}.${name}`))
  return [...ownMethods(resource).map(name => `${path}.${name}`), ...below]
}

function record(resource: Resource, path: string, called: Set<string>) {
  for (const name of ownMethods(resource)) {
    const method = resource[name] as (...input: unknown[]) => Promise<unknown>
    resource[name] = async (...input: unknown[]) => {
      const said = await method.apply(resource, input)
      called.add(`${path}.${name}`)
      return said
    }
  }
  for (const [name, child] of resourcesIn(resource)) record(child, `${path}.${name}`, called)
}
