import type {Command} from 'commander'
import type {FirstRun} from '../../src/admin/first-run.ts'
import type {Log} from '../../src/base/log.ts'
import type {FlagOption, Settings} from '../../src/settings/index.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {tellFirstRun} from '../first-run.ts'
import {humanLines} from '../log-lines.ts'
import {type OpenApp, openApp} from '../open.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'
import type {World} from '../world.ts'
import {flagsOf, withSettings} from './settings.ts'

/** `gateway serve`: the gateway itself, until a signal comes. */
export function serve(flags: readonly FlagOption[]): Command {
  const command = leaf('serve', 'Start the gateway', [
    'gateway serve',
    'gateway serve --demo',
    'gateway serve --host 0.0.0.0 --port 8080 --data-dir /var/lib/gateway',
  ]).option('--demo', 'add the provider @demo, which answers in this process: try a call without any account')
  return withSettings(command, flags, {listed: true}).action(async ({demo}: {demo?: true}, self: Command) => {
    const {world, settings: read, sources} = await openSession(self, flagsOf(self, flags))
    const {settings} = await read()
    const [{createLog}, {notifyServiceManager}, {restAfterLoad}] = await Promise.all([
      import('../../src/base/log.ts'),
      import('../../src/base/notify.ts'),
      import('../../src/base/rest.ts'),
    ])
    const log = createLog(
      settings.log_level,
      settings.service_name,
      world.stderr.isTTY ? humanLines(world.stderr) : line => world.stderr.write(line),
    )
    const stop = awaitSignal(world, log)
    try {
      const app = await openApp(world, settings, {role: 'server', log, ...(demo && {demo})})
      try {
        for (const note of app.notes) log.info(note)
        const url = await start(app, settings, log, world, demo === true)
        await notifyServiceManager('ready', sources.env.NOTIFY_SOCKET)
        restAfterLoad()
        const signal = await stop.heard
        log.info({signal, url}, 'stopping: running calls may finish')
        await Promise.all([app.drain(), notifyServiceManager('stopping', sources.env.NOTIFY_SOCKET)])
      } finally {
        await app.close()
      }
      log.info('stopped')
    } finally {
      stop.off()
    }
  })
}

/** A signal to a whole process group comes twice: directly, and handed on by npm. */
const SAME_SIGNAL_MS = 1000

/** The first signal resolves `heard`; one more, later than its echo, ends the process at once. */
function awaitSignal(world: World, log: Log) {
  let resolve: (name: string) => void
  let first_at_ms: number | undefined
  const heard = new Promise<string>(done => {
    resolve = done
  })
  const off = world.onSignal(name => {
    const now_ms = world.now()
    if (first_at_ms === undefined) {
      first_at_ms = now_ms
      return resolve(name)
    }
    if (now_ms - first_at_ms < SAME_SIGNAL_MS) return
    log.warn({signal: name}, 'stopping at once: calls under way are cut off')
    world.exit(EXIT.failure)
  })
  return {heard, off}
}

/** Says the keys before it listens, as they are in the database already: a port in use must not lose them. */
async function start(app: OpenApp, settings: Settings, log: Log, world: World, demo: boolean): Promise<string> {
  const told = app.first_run && tellFirstRun(app.first_run, settings.data_dir, world)
  if (told?.to === 'file') log.info({path: told.path}, 'first run: the keys are in a file')
  const {url} = await app.listen().catch((cause: NodeJS.ErrnoException) => {
    throw listenFault(cause, settings)
  })
  // Where both are one terminal, once is enough.
  if (!world.stdout.isTTY || !world.stderr.isTTY) log.info({url}, 'listening')
  if (!world.stdout.isTTY) return url
  world.stdout.write(`Listening on ${url}\n`)
  if (told?.to === 'terminal') world.stdout.write(`\n${demo ? tryIt(url, app.first_run!) : nextSteps}\n`)
  return url
}

function tryIt(url: string, {workspace_key}: FirstRun): string {
  const key = workspace_key.given ? '$GATEWAY_BOOTSTRAP_WORKSPACE_KEY' : workspace_key.key
  return `Try it, with no account and no network:

  curl ${url}/v1/chat/completions -H "x-gateway-api-key: ${key}" -H "x-gateway-provider: @demo" \\
    -H "content-type: application/json" -d '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}'
`
}

const nextSteps = `Next, in another terminal:

  gateway providers create my-openai --kind openai --key-file openai.key
`

const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process. Stop that one, or choose another port with --port (0 takes any free one)',
  EACCES: 'may not be listened on by this user: ports below 1024 need a privilege. Choose another with --port',
  EADDRNOTAVAIL: 'is no address of this machine. Choose another with --host',
  ENOTFOUND: 'is no address of this machine. Choose another with --host',
}

function listenFault(cause: NodeJS.ErrnoException, {host, port}: Settings): unknown {
  const why = LISTENING[cause.code ?? '']
  if (!why) return cause
  return new CommandFault(`The address ${host.includes(':') ? `[${host}]` : host}:${port} ${why}.`, {
    exit: EXIT.failure,
    code: cause.code!.toLowerCase(),
    cause,
  })
}
