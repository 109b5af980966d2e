import {subscribe, unsubscribe} from 'node:diagnostics_channel'
import {cpSync, mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import type {CreateApp} from '../../../cli/open.ts'
import type {AnyOperation} from '../../../src/admin/operation.ts'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../../../src/admin/registry.ts'
import {createApp} from '../../../src/app/app.ts'
import type {App} from '../../../src/app/root.ts'
import {createLog} from '../../../src/base/log.ts'
import {readSettings} from '../../../src/settings/index.ts'
import type {Db} from '../../../src/store/database.ts'
import {openStore} from '../../../src/store/dialect/index.ts'
import {run, type Said} from '../support.ts'
import {BEFORE} from './before.ts'
import {prepare} from './instance.ts'
import {ADMIN_KEY, type Inject, LOG, POLICY, WORKSPACE_KEY} from './names.ts'
import {readLine} from './shell.ts'

export type Mode = 'here' | 'there'

/** What a line is run in; what it may be changed by first. */
export interface Stage {
  readonly inject: Inject
  readonly folder: string
  /** Works on the database itself. */
  db(work: (db: Db) => Promise<unknown>): Promise<void>
}

export interface Examples {
  /** Runs a line; `performed` are the operations it asked for. */
  run(line: string): Promise<Said & {readonly performed: readonly string[]}>
  /** A new page begins: what was changed is as it was. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Commands that are the gateway, or need none: they open one themselves. */
export const OWN = ['serve', 'init', 'migrate', 'config', 'completion', 'version', 'bundle keygen']

const log = createLog('fatal', 'gateway', line => void console.error(line))

/** Runs lines, each on a gateway with all that examples name; `keeps` goes on with what the line before left. */
export async function openExamples(mode: Mode, {keeps = false} = {}): Promise<Examples> {
  const template = await prepare()
  let stage: (Stage & {readonly app: App; readonly url: string | undefined; close(): Promise<void>}) | undefined
  const requests: string[] = []
  const received = (message: unknown) => {
    const {method, path} = (message as {request: {method: string; path: string}}).request
    requests.push(`${method} ${path}`)
  }
  subscribe('undici:request:create', received)
  const reset = async () => {
    await stage?.close()
    stage = undefined
  }
  const opened = async (command: string) => {
    const demo = DEMO.includes(command)
    if (demo) await reset()
    stage ??= await openStage(template, mode, demo)
    return stage
  }
  return {
    reset,
    async run(text) {
      const line = readLine(text)
      if (!line) throw new Error(`${text} runs no gateway.`)
      const command = commandOf(line.argv)
      const {app, url, folder, ...rest} = await opened(command)
      const is_own = OWN.includes(command) || OWN.includes(line.argv[0]!)
      const before = BEFORE[command]
      await before?.({folder, ...rest}, line.argv)
      requests.length = 0
      const argv = line.argv.map(word => placed(word, {command, folder, url}))
      const place: string[] = []
      const there = mode === 'there' && !is_own
      if (there && !argv.includes('--url')) place.push('--url', url!)
      if (there && !argv.some(word => word === '--api-key-file'))
        place.push('--api-key', OF_WORKSPACE.includes(command) ? WORKSPACE_KEY : ADMIN_KEY)
      if (!there && !is_own && !argv.includes('--data-dir')) place.push('--data-dir', join(folder, 'data'))
      const shared: CreateApp = async () => ({
        ...forwarded(app),
        inject: async request => {
          requests.push(`${request.method} ${request.url}`)
          return app.inject(request)
        },
        close: async () => undefined,
      })
      let raise: (name: string) => void = () => undefined
      if (is_own) await app.drain()
      const said = await run([...argv, ...place], {
        folder,
        env: {...settingsIn(folder), ...SECRETS, ...line.env},
        now_ms: Date.now(),
        createApp: is_own ? served(() => raise('SIGTERM')) : shared,
        onListening(given) {
          raise = given
        },
        onSleep: () => raise('SIGINT'),
        ...(line.input && {
          stdin: 'text' in line.input ? line.input.text : readFileSync(resolve(folder, line.input.file), 'utf8'),
        }),
      })
      const performed = requests.flatMap(operationsOf)
      const changed =
        before !== undefined ||
        is_own ||
        requests.some(each => each.startsWith('DELETE ')) ||
        TAKE_AWAY.includes(command)
      if (!keeps && changed) await reset()
      return {...said, performed}
    },
    async close() {
      await reset()
      unsubscribe('undici:request:create', received)
      rmSync(template, {recursive: true, force: true})
    },
  }
}

/** Those that call a model, which the demo provider is. */
const DEMO = ['prompts run']
/** Those for which a key of a workspace is needed at a URL. */
const OF_WORKSPACE = ['prompts render', 'logs insert', 'feedback add', 'feedback change']
/** Commands after which something that other examples name is not what it was, beside those that delete. */
const TAKE_AWAY = [
  'keys create',
  'keys rotate',
  'collections create',
  'organisations create',
  'bundle apply',
  'labels update',
  'workspaces update',
  'export',
  'apply',
  'import',
  'api',
  'pricing sync',
  'pricing rollback',
  'logs export run',
]
const SECRETS = {
  OPENAI_API_KEY: 'sk-openai-0123456789',
  ANTHROPIC_API_KEY: 'sk-anthropic-0123456789',
  MASTER_KEY: 'sk-master-0123456789',
}

function settingsIn(folder: string) {
  return {
    GATEWAY_DATA_DIR: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    SCIM_ENABLED: 'ON',
    MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH: join(folder, 'capabilities'),
  }
}

function forwarded(app: App) {
  const {settings, first_run, notes, listen, reload, drain} = app
  return {settings, first_run, notes, listen, reload, drain}
}

/** A gateway of a command's own, on a port that is free; `listens` is called once it does. */
function served(listens: () => void): CreateApp {
  return async (settings, options) => {
    const app = await createApp({...settings, host: '127.0.0.1', port: 0}, {...options, log})
    return {
      ...forwarded(app),
      inject: request => app.inject(request),
      close: () => app.close(),
      async listen() {
        const listening = await app.listen()
        queueMicrotask(listens)
        return listening
      },
    }
  }
}

async function openStage(template: string, mode: Mode, demo: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-example-'))
  cpSync(template, folder, {recursive: true})
  const data = join(folder, 'data')
  const {settings} = readSettings({env: {...settingsIn(folder), PORT: '0'}})
  const app = await createApp(settings, {role: mode === 'there' ? 'server' : 'operator', log, demo})
  const url = mode === 'there' ? (await app.listen()).url : undefined
  return {
    app,
    url,
    folder,
    async inject(method: string, path: string, body?: unknown) {
      const reply = await app.inject({method, url: `/v1${path}`, body})
      if (reply.status !== 200)
        throw new Error(`${method} ${path} answers ${reply.status}: ${JSON.stringify(reply.body)}`)
      return reply.body as Record<string, unknown>
    },
    async db(work: (db: Db) => Promise<unknown>) {
      const store = await openStore({kind: 'sqlite', folder: data, role: 'operator'})
      await work(store.db)
      await store.close()
    },
    async close() {
      await app.drain()
      await app.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** What stands for a place or a secret of somebody's own. */
function placed(
  word: string,
  {command, folder, url}: {command: string; folder: string; url: string | undefined},
): string {
  const there = url ?? 'http://127.0.0.1:9'
  return word
    .replace(/^ID$/, command.startsWith('policies') ? POLICY : LOG)
    .replace(/^LINK$/, `${there}/v1/invites/accept#token=${readToken(folder)}`)
    .replace('/var/lib/gateway', join(folder, 'data'))
    .replace(/^\.\/data$/, join(folder, 'data'))
    .replace(/https:\/\/gateway\.example\.com|http:\/\/localhost:8787/, there)
    .replace(/^key\.txt$/, join(folder, 'key.txt'))
    .replace(/^one-api\.db$/, join(folder, 'one-api.db'))
    .replace('gi-...', readToken(folder))
}

function readToken(folder: string): string {
  try {
    return readFileSync(join(folder, 'invite-token'), 'utf8')
  } catch {
    return 'gi-...'
  }
}

/** The words that name the command: those before the first flag that are no arguments, three at most. */
export function commandOf(argv: readonly string[]): string {
  const words = argv[0] === '--organisation' ? argv.slice(2) : argv
  const is_deep =
    ['policies', 'logs', 'scim'].includes(words[0]!) &&
    ['usage', 'rate', 'export', 'filters', 'tokens'].includes(words[1]!)
  const deep = is_deep ? 3 : 2
  return words.slice(0, ALONE.includes(words[0]!) ? 1 : deep).join(' ')
}

const ALONE = [
  'serve',
  'init',
  'migrate',
  'login',
  'logout',
  'replay',
  'usage',
  'workers',
  'export',
  'apply',
  'import',
  'api',
  'completion',
  'version',
]

const ROUTES = [...OPERATIONS, ...OPERATOR_OPERATIONS].map(operation => ({operation, pattern: patternOf(operation)}))

function patternOf({path}: AnyOperation): RegExp {
  return new RegExp(`^/v1${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`)
}

/** The operation that a request is of: of several that fit, the one that says most of its path itself. */
function operationsOf(request: string): string[] {
  const [method, url = ''] = request.split(' ')
  const path = url.split('?', 1)[0]!
  const fit = ROUTES.filter(({operation, pattern}) => operation.method === method && pattern.test(path))
  const fixed = ({operation}: (typeof ROUTES)[number]) =>
    operation.path.split('/').filter(part => !part.startsWith(':')).length
  return fit
    .toSorted((a, b) => fixed(b) - fixed(a))
    .slice(0, 1)
    .map(({operation}) => operation.id)
}
