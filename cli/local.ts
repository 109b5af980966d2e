import type {Log} from '../src/base/log.ts'
import type {Settings} from '../src/settings/index.ts'
import type {Environment} from './environment.ts'
import {CommandFault} from './fault.ts'
import {humanLines} from './log-lines.ts'
import {type OpenApp, openApp} from './open.ts'
import type {Transport} from './transport.ts'

/**
 * The gateway of this machine's data directory, with the operator's rights; no server need run, one that does sees the
 * change.
 */
export async function openLocal(world: Environment, settings: Settings, organisation?: string): Promise<Transport> {
  const {createLog} = await import('../src/base/log.ts')
  const log = createLog('warn', settings.service_name, humanLines(world.stderr))
  const app = await openApp(world, settings, {role: 'operator', log}).catch(fault => withoutData(fault, settings, log))
  return {
    kind: 'here',
    send: ({method, path, body}) =>
      app.inject({method, url: path, organisation, ...(body === undefined ? {} : {body})}),
    close: () => app.close(),
  }
}

/** Without a data directory, prices can still be read; anything else gets the reason. */
async function withoutData(fault: unknown, settings: Settings, log: Log): Promise<Pick<OpenApp, 'inject' | 'close'>> {
  if (!(fault instanceof CommandFault) || fault.code !== 'data_directory') throw fault
  const {createPublic} = await import('../src/app/public.ts')
  const app = createPublic(settings, log)
  return {
    async inject(request) {
      const reply = await app.inject(request)
      if (reply.status === 404 && !PUBLIC.test(request.url)) throw fault
      return reply
    },
    close: () => app.close(),
  }
}

const PUBLIC = /^\/v1\/(?:model-configs\/pricing|openapi\.json)/
