import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {freePort, listens, run, start} from '../processes.ts'
import {MissingFault, type Subject, type Surroundings} from './subject.ts'

const NAME = '@portkey-ai/gateway'
/** With later versions of hono this one answers no streams. */
const PACKAGE = {
  private: true,
  dependencies: {[NAME]: '1.15.2'},
  overrides: {hono: '4.9.7', '@hono/node-server': '1.8.2'},
}

/**
 * The open-source gateway that ours is compared to, as it is published: it translates, and keeps no keys, counters or
 * ledger.
 */
export async function startPeer({folder, upstream, processors}: Surroundings): Promise<Subject> {
  const home = join(folder, 'peer')
  await install(home)
  const port = await freePort()
  const program = start(
    [process.execPath, join(home, 'node_modules', NAME, 'build/start-server.js'), `--port=${port}`, '--headless'],
    {
      folder: home,
      processors,
      env: {NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'},
    },
  )
  await listens(port, program)
  return {
    id: 'peer',
    name: `${NAME} ${PACKAGE.dependencies[NAME]}`,
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: {
      authorization: 'Bearer sk-upstream',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    },
    pid: program.pid,
    stop: () => program.stop(2000),
  }
}

/** It lives in a folder of its own and is never a dependency of ours. */
async function install(home: string): Promise<void> {
  const wanted = JSON.stringify(PACKAGE)
  const file = join(home, 'package.json')
  const done = join(home, 'node_modules/.package-lock.json') // npm writes it last
  if (existsSync(done) && existsSync(file) && readFileSync(file, 'utf8').trim() === wanted) return
  mkdirSync(home, {recursive: true})
  writeFileSync(file, wanted)
  console.error(`bench: installing ${NAME} into its own folder; this happens once`)
  await run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    folder: home,
  }).catch(fault => {
    throw new MissingFault(`${NAME} could not be installed: ${fault instanceof Error ? fault.message : fault}`)
  })
}
