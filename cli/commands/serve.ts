import type {Command} from 'commander'
import type {FirstRun} from '../../src/admin/first-run.ts'
import type {Log} from '../../src/base/log.ts'
import type {ServiceState} from '../../src/base/notify.ts'
import type {FlagOption, Settings} from '../../src/settings/index.ts'
import type {Environment} from '../environment.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {tellFirstRun} from '../first-run.ts'
import {placeOptions} from '../hint.ts'
import {humanLines} from '../log-lines.ts'
import {type OpenApp, openApp} from '../open.ts'
import {leaf} from '../options.ts'
import type {SettingsNote} from '../running-settings.ts'
import {type CommandSession, openSession} from '../session.ts'
import {awaitSignal} from '../signals.ts'
import {flagsOf, withSettings} from './settings.ts'

interface ServeOptions {
  readonly demo?: true
  readonly acceptLoss?: true
}

/** `gateway serve`: the gateway itself, until a signal comes. */
export function serve(flags: readonly FlagOption[]): Command {
  const command = leaf('serve', 'Start the gateway', [
    'gateway serve',
    'gateway serve --demo',
    'gateway serve --host 0.0.0.0 --port 8080 --data-dir /var/lib/gateway',
  ])
    .option('--demo', 'add the provider @demo, which answers in this process: try a call without any account')
    .option('--accept-loss', 'begin an empty ledger where the one of this data directory is gone')
  return withSettings(command, flags, {listed: true}).action(
    async ({demo, acceptLoss}: ServeOptions, self: Command) => {
      const {world, settings: read, sources, options} = await openSession(self, flagsOf(self, flags))
      const {settings, origins} = await read()
      const [{createLog}, {notifyServiceManager}, {restAfterLoad}, {leaveNote}, {noteSettings}] = await Promise.all([
        import('../../src/base/log.ts'),
        import('../../src/base/notify.ts'),
        import('../../src/base/idle-memory.ts'),
        import('../served.ts'),
        import('../running-settings.ts'),
      ])
      const log = createLog(
        settings.log_level,
        settings.service_name,
        world.stderr.isTTY ? humanLines(world.stderr) : line => world.stderr.write(line),
      )
      const stop = awaitSignal(world, log, sources.env)
      let forget = () => {}
      try {
        const app = await openApp(world, settings, {
          role: 'server',
          log,
          ...(demo && {demo}),
          ...(acceptLoss && {accepts_loss: true}),
        })
        let late: NodeJS.Timeout | undefined
        try {
          for (const note of app.notes) log.info(note)
          const url = await start(app, settings, log, world, {demo: demo === true, place: placeOptions(options)})
          const note = await noteSettings({
            ...{settings: app.settings, origins, now: world.now},
            onFault: fault => log.warn({fault}, 'gateway config show --running does not know the settings in force'),
          })
          stop.onReload(() =>
            readAgain(app, read, log, note, state => notifyServiceManager(state, sources.env.NOTIFY_SOCKET)),
          )
          const forgetServed = leaveNote(sources.env, {
            data_dir: settings.data_dir,
            url,
            pid: process.pid,
            started_at: new Date(world.now()).toISOString(),
          })
          forget = () => {
            forgetServed()
            note.forget()
          }
          await notifyServiceManager('ready', sources.env.NOTIFY_SOCKET)
          // what that takes is no load: the memory that it needs is that of the first calls
          const warm: Promise<unknown> = app.warmUp?.() ?? Promise.resolve()
          void warm
            .catch((fault: unknown) => log.debug({fault}, 'the way of a call was not compiled before the first'))
            .then(() => restAfterLoad())
          const signal = await stop.heard
          log.info({signal, url}, 'stopping: running calls may finish')
          late = endInTime(app.settings.drain_timeout_ms, log, world)
          void notifyServiceManager('stopping', sources.env.NOTIFY_SOCKET)
          await app.drain()
        } finally {
          forget()
          await app.close()
          clearTimeout(late)
        }
        log.info('stopped')
      } finally {
        stop.off()
      }
    },
  )
}

/** Settings that may change while it serves, as they are now; where any of them is wrong, all stay as they were. */
async function readAgain(
  app: OpenApp,
  read: CommandSession['settings'],
  log: Log,
  note: SettingsNote,
  notify: (state: ServiceState) => Promise<boolean>,
) {
  await notify('reloading')
  try {
    const {settings, origins} = await read()
    const changes = app.reload(settings)
    note.taken(changes, origins)
    log.warn({reloaded: changes.taken, need_restart: changes.need_restart}, 'settings were read again')
  } catch (fault) {
    note.refused(fault)
    log.error({fault}, 'settings could not be read again: all stay as they were')
  }
  await notify('ready')
}

/**
 * A database that is silent while it is closed keeps no process: settlements are in the journal, and the next start
 * continues there.
 */
function endInTime(drain_timeout_ms: number, log: Log, world: Environment): NodeJS.Timeout {
  return setTimeout(() => {
    log.warn('stopped before everything was written to the database: the next start writes the rest')
    world.exit(EXIT.ok)
  }, drain_timeout_ms + MAX_CLOSING_MS).unref()
}

const MAX_CLOSING_MS = 700 // of a second: threads have to end too

/** Says the keys before it listens, as they are in the database already: a port in use must not lose them. */
async function start(
  app: OpenApp,
  settings: Settings,
  log: Log,
  world: Environment,
  {demo, place}: {demo: boolean; place: string},
): Promise<string> {
  const shown = app.first_run && tellFirstRun(app.first_run, settings.data_dir, world)
  if (shown?.to === 'file') log.info({path: shown.path}, 'first run: the keys are in a file')
  const {url, mcp_url} = await app.listen().catch((cause: NodeJS.ErrnoException) => {
    throw listenFault(cause, settings)
  })
  // When both are one terminal, once is enough.
  if (!world.stdout.isTTY || !world.stderr.isTTY) log.info({url, ...(mcp_url !== undefined && {mcp_url})}, 'listening')
  if (!world.stdout.isTTY) return url
  world.stdout.write(`Listening on ${url}\n`)
  if (mcp_url !== undefined) world.stdout.write(`MCP alone is on ${mcp_url}\n`)
  if (shown?.to === 'terminal') world.stdout.write(`\n${demo ? tryIt(url, app.first_run!) : nextSteps(place)}\n`)
  return url
}

function tryIt(url: string, {workspace_key}: FirstRun): string {
  const key = workspace_key.given ? '$GATEWAY_BOOTSTRAP_WORKSPACE_KEY' : workspace_key.key
  return `Try it, with no account and no network:

  curl ${url}/v1/chat/completions -H "x-gateway-api-key: ${key}" -H "x-gateway-provider: @demo" \\
    -H "content-type: application/json" -d '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}'
`
}

const nextSteps = (place: string) => `Next, in another terminal:

  gateway providers create my-openai --kind openai --key-file openai.key${place}
`

const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process. Stop that one, or choose another port with --port (0 takes any free one)',
  EACCES: 'may not be listened on by this user: ports below 1024 need a privilege. Choose another with --port',
  EADDRNOTAVAIL: 'is no address of this machine. Choose another with --host',
  ENOTFOUND: 'is no address of this machine. Choose another with --host',
}

function listenFault(cause: NodeJS.ErrnoException & {readonly port?: number}, settings: Settings): unknown {
  const {host, mcp_port} = settings
  const {port = settings.port} = cause
  const is_mcp = port === mcp_port && port !== settings.port
  const why = LISTENING[cause.code ?? '']?.replace('--port', is_mcp ? '--mcp-port' : '--port')
  if (!why) return cause
  return new CommandFault(`The address ${host.includes(':') ? `[${host}]` : host}:${port} ${why}.`, {
    exit: EXIT.failure,
    code: cause.code!.toLowerCase(),
    cause,
  })
}
