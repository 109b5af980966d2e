import {readdirSync, readFileSync, statSync} from 'node:fs'
import {dirname, join, relative, resolve} from 'node:path'
import {expect, test} from 'vitest'

/** Folders by floor; a file imports its own folder and lower floors only. `src/app` puts the floors together. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/base'],
  ['src/schema', 'src/settings'],
  ['src/store', 'src/ports'],
  [
    'src/identity',
    'src/charge',
    'src/limits',
    'src/pricing',
    'src/providers',
    'src/guardrails',
    'src/cache',
    'src/routing',
    'src/prompts',
  ],
  ['src/secrets'],
  ['src/proxy', 'src/mcp', 'src/admin', 'src/scim', 'src/sign-in', 'src/oauth', 'src/workers', 'src/telemetry'],
  ['src/app'],
  ['cli'],
  ['bin'],
]
/** Folders that stop lower than their floor allows, so that they are read and tested with no database near. */
const ONLY: Record<string, readonly string[]> = {
  'src/providers': ['src/base', 'src/schema'],
  'src/guardrails': ['src/base', 'src/schema'],
  'src/routing': ['src/base', 'src/schema'],
  'src/prompts': ['src/base', 'src/schema'],
  'src/charge': ['src/base', 'src/schema'],
  migrations: [],
}
/** The data plane, from the bottom: a file imports its own folder and those before it. */
const PROXY_FLOORS = [
  'guardrail-services.ts',
  'services.ts',
  'inbound',
  'targets',
  'call',
  'upstream',
  'guardrails',
  'batches',
  'records',
  'reservations',
  'lookups',
  'attempt',
  'run',
  'realtime',
  'explain',
  'tool-runs',
  'proxy.ts',
]
/** The plane of MCP, likewise. */
const MCP_FLOORS = [
  'wire',
  'content',
  'upstream',
  'call',
  'credentials',
  'services.ts',
  'pool',
  'records',
  'sync',
  'sessions',
  'held',
  'guards',
  'relay',
  'serve',
  'virtual',
  'tools',
  'door.ts',
]
const PLANES: Readonly<Record<string, readonly string[]>> = {'src/proxy/': PROXY_FLOORS, 'src/mcp/': MCP_FLOORS}
const MAX_LINES = 400
const MAX_PROXY_FILES = 15
const root = resolve(import.meta.dirname, '..')
const files = ['src', 'cli', 'bin', 'migrations'].flatMap(folder => walk(join(root, folder)))
const code = files.map(file => ({file: relative(root, file), text: readFileSync(file, 'utf8')}))

/** `Uses` picks from the whole set. */
const WHOLE_SET = ['src/app/', 'src/proxy/proxy.ts', 'src/proxy/services.ts']

test('no file imports upward or sideways', () => {
  const wrong = code.flatMap(({file, text}) => imports(file, text).flatMap(to => complaint(file, to)))
  expect(wrong).toEqual([])
})

test('no file of the data plane, and of that of MCP, imports upward', () => {
  const wrong = code.flatMap(({file, text}) => {
    const from = planeFloorOf(file)
    return imports(file, text)
      .filter(to => from !== null && (planeFloorOf(to) ?? -1) > from)
      .map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

test(`no folder of the data plane has more than ${MAX_PROXY_FILES} files`, () => {
  const folders = Map.groupBy(
    code.filter(({file}) => file.startsWith('src/proxy/')),
    ({file}) => dirname(file),
  )
  expect([...folders].filter(([, files]) => files.length > MAX_PROXY_FILES).map(([folder]) => folder)).toEqual([])
})

test('a file takes the services that it uses; the whole set is for the face and for who puts it together', () => {
  const whole = code.filter(({text}) => /\bProxyServices\b/.test(text)).map(({file}) => file)
  expect(whole.filter(file => !WHOLE_SET.some(known => file.startsWith(known)))).toEqual([])
})

/** Files of the data plane that take the time themselves. All others are given it (`Uses<'steady' | 'after'>`). */
const OWN_TIME: Readonly<Record<string, string>> = {
  'src/proxy/records/metrics-page.ts': 'slices of the processor time that one turn takes',
  'src/proxy/batches/judge-rows.ts': 'slices of the processor time that one turn takes',
  'src/proxy/explain/explain.ts': 'a pause between two answers, so that calls have their turn',
  'src/proxy/realtime/upgrade.ts': 'the end of a socket that was refused, which belongs to no call',
}

test('the data plane is given its clock', () => {
  const own = /\b(?:performance\.now|Date\.now|Math\.random|setTimeout|setInterval|setImmediate)\(/
  const taking = code.filter(({file, text}) => /^src\/(?:proxy|mcp|charge|routing)\//.test(file) && own.test(text))
  expect(taking.map(({file}) => file).sort()).toEqual(Object.keys(OWN_TIME).sort())
})

test('a root asks nobody which root it is', () => {
  const roots = ['src/app/serving.ts', 'src/app/operator.ts', 'src/app/public.ts']
  const asking = code.filter(({file, text}) => file.startsWith('src/app/') && /\brole ===|\bplane [&?]/.test(text))
  expect(asking.map(({file}) => file)).toEqual(['src/app/app.ts'])
  expect(roots.filter(root => !code.some(({file}) => file === root))).toEqual([])
})

test('no set of services is pretended', () => {
  const pretended = /\bas (?:unknown as )?(?:\w+\.)?\w*Services\b/
  expect(code.filter(({text}) => pretended.test(text)).map(({file}) => file)).toEqual([])
})

test('no request, no client and no call is pretended: work that has none of them needs none', () => {
  const pretended = /\bas (?:unknown as )?(?:ReceivedRequest|InboundRequest|ResponseWriter|ClientCall|Call|Work)\b/
  expect(code.filter(({text}) => pretended.test(text)).map(({file}) => file)).toEqual([])
})

test('no import goes in a circle', () => {
  const edges = new Map(code.map(({file, text}) => [file, imports(file, text)]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file) || path.includes(file)) return
    for (const to of edges.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  expect(circles).toEqual([])
})

test(`no file is longer than ${MAX_LINES} lines`, () => {
  expect(code.filter(({text}) => text.split('\n').length > MAX_LINES + 1).map(({file}) => file)).toEqual([])
})

test('only the settings and the entry read the environment', () => {
  const allowed = (file: string) => file.startsWith('src/settings/') || file.startsWith('bin/')
  expect(code.filter(({file, text}) => !allowed(file) && /process\.env\b/.test(text)).map(({file}) => file)).toEqual([])
})

test('SQL is said in the store and the migrations only', () => {
  const allowed = (file: string) => file.startsWith('src/store/') || file.startsWith('migrations/')
  const sql = /\bsql`|\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\.prepare\(/
  expect(code.filter(({file, text}) => !allowed(file) && sql.test(text)).map(({file}) => file)).toEqual([])
})

test('a provider is named in providers only', () => {
  // What comes from other gateways is turned from their names of providers into ours.
  const places = ['src/providers/', 'src/pricing/', 'src/guardrails/partners/', 'cli/importers/', 'bin/']
  const allowed = (file: string) => places.some(place => file.startsWith(place))
  const named = /['"`](openai|azure-openai|anthropic|bedrock|vertex-ai|google|cohere|mistral-ai|groq|ollama|demo)['"`]/
  expect(
    code.filter(({file, text}) => !allowed(file) && named.test(withoutComments(text))).map(({file}) => file),
  ).toEqual([])
})

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? walk(path) : /\.(ts|mjs)$/.test(name) ? [path] : []
  })
}

function imports(file: string, text: string): string[] {
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)].map(match => match[1]!)
  return found.map(specifier => relative(root, resolve(root, dirname(file), specifier)))
}

function complaint(file: string, to: string): string[] {
  const from = folderOf(file)
  const target = folderOf(to)
  if (from === target) return []
  const only = ONLY[from]
  const bad = only ? !only.includes(target) : target !== 'migrations' && floorOf(target) >= floorOf(from)
  return bad ? [`${file} imports ${to}`] : []
}

function folderOf(file: string): string {
  const parts = file.split('/')
  if (parts[0] !== 'src') return parts[0]!
  return parts.length === 2 ? 'src' : `src/${parts[1]}`
}

/** The floor of a file in its plane; null of a file in none. One that stands on no floor is a fault of the table. */
function planeFloorOf(file: string): number | null {
  const plane = Object.keys(PLANES).find(folder => file.startsWith(folder))
  if (plane === undefined) return null
  const floor = PLANES[plane]!.indexOf(file.split('/')[2]!)
  if (floor < 0) throw new Error(`${file} stands on no floor of ${plane}`)
  return floor
}

function floorOf(folder: string): number {
  if (folder === 'migrations') return 2
  const floor = FLOORS.findIndex(folders => folders.includes(folder))
  return floor < 0 ? FLOORS.length : floor
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}
