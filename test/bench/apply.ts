import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {run} from './processes.ts'

/**
 * Resources that `gateway apply` makes, and the milliseconds that the whole command may take, from its start to its
 * end.
 */
const RESOURCES = 500
const MAX_MS = 10_000
const WORKSPACES = 20
/** Of each other kind, so many in each workspace. */
const EACH = 4

const folder = mkdtempSync(join(tmpdir(), 'bench-apply-'))
try {
  const gateway = [
    process.execPath,
    resolve(import.meta.dirname, '../../bin/gateway.ts'),
    '--data-dir',
    join(folder, 'data'),
  ] as const
  await run([...gateway, 'init'])
  const said = await written('v1')
  if (said !== RESOURCES) throw new Error(`${said} resources were written`)
  await timed(`gateway apply of ${RESOURCES} resources, all new`, () => apply(gateway))
  await timed('the same, nothing differs', () => apply(gateway))
  await written('v2')
  await timed('the same, all changed', () => apply(gateway))
} finally {
  rmSync(folder, {recursive: true, force: true})
}

function apply(gateway: readonly [string, ...string[]]) {
  return run([
    ...gateway,
    'apply',
    '-f',
    join(folder, 'resources'),
    '--quiet',
    '--keys-file',
    join(folder, `keys-${Math.random()}`),
  ])
}

/** Writes the files, with `mark` in each; gives how many resources they hold. */
async function written(mark: string): Promise<number> {
  const documents: string[] = []
  const add = (kind: string, workspace: string | null, slug: string, spec: object) =>
    documents.push(JSON.stringify({kind, ...(workspace && {workspace}), slug, spec}))
  for (let at = 0; at < WORKSPACES; at++) {
    const workspace = `ws-${at}`
    add('workspace', null, workspace, {name: `Workspace ${at}`, description: mark})
    for (let number = 0; number < EACH; number++) {
      const name = `${at}-${number}`
      add('guardrail', workspace, `pg-${name}`, {
        name: mark,
        checks: [{id: 'default.contains', parameters: {words: [mark], operator: 'none'}}],
        actions: {deny: true},
      })
      add('integration', workspace, `cloud-${name}`, {
        name: mark,
        ai_provider_id: 'ollama',
        configurations: {custom_host: 'http://127.0.0.1:11434/v1'},
      })
      add('provider', workspace, `main-${name}`, {name: mark, integration_id: `cloud-${name}`})
      add('config', workspace, `pc-${name}`, {
        name: mark,
        config: {provider: `@main-${name}`, override_params: {model: mark}},
      })
      add('prompt', workspace, `pp-${name}`, {
        name: mark,
        versions: [
          {published: true, virtual_key: `main-${name}`, messages: [{role: 'user', content: `Hi {{name}} ${mark}`}]},
        ],
      })
      add('api-key', workspace, `key ${name}`, {
        type: 'workspace-service',
        scopes: ['completions.write'],
        description: mark,
      })
    }
  }
  mkdirSync(join(folder, 'resources'), {recursive: true})
  writeFileSync(join(folder, 'resources', 'all.yaml'), documents.join('\n---\n'))
  return documents.length
}

async function timed(what: string, work: () => Promise<unknown>) {
  const began = performance.now()
  await work()
  const ms = performance.now() - began
  console.log(`${what}: ${ms.toFixed(0)} ms (at most ${MAX_MS} ms)${ms > MAX_MS ? ': TOO SLOW' : ''}`)
  if (ms > MAX_MS) process.exitCode = 1
}
