import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {putMcpConnection} from '../../../src/store/mcp-connections.ts'
import {heldToken, signer} from '../../support/tokens.ts'
import {run} from '../support.ts'
import {logCall, namePolicy} from './fill.ts'
import {THING, WORKSPACE_KEY} from './names.ts'
import type {Stage} from './runner.ts'

type Before = (stage: Stage, argv: readonly string[]) => Promise<unknown>

const gone =
  (...paths: readonly (readonly [path: string, body?: object])[]): Before =>
  async ({inject}) => {
    for (const [path, body] of paths) await inject('DELETE', path, body)
  }
const policy =
  (kind: 'usage' | 'rate'): Before =>
  ({db}) =>
    db(store => namePolicy(store, kind))
const exportIn =
  (status: 'draft' | 'in_progress'): Before =>
  ({db}) =>
    db(store =>
      store
        .updateTable('log_exports')
        .set({status, run: status === 'draft' ? null : 'run'})
        .where('id', '=', THING)
        .execute(),
    )
const emailIn = (argv: readonly string[]) => argv.find(word => word.includes('@'))
const userGone: Before = async ({inject}, argv) => {
  const {data} = (await inject('GET', '/admin/users')) as {data: {id: string; email: string}[]}
  await inject('DELETE', `/admin/users/${data.find(({email}) => email === emailIn(argv))!.id}`)
}
const written: Before = async ({inject}) => {
  await inject('POST', `/logs/exports/${THING}/start`)
  for (let status = 'in_progress'; status !== 'success'; ) {
    if (status !== 'in_progress') throw new Error(`The export is ${status}.`)
    ;({status} = (await inject('GET', `/logs/exports/${THING}`)) as {status: string})
    await new Promise(resolve => setImmediate(resolve))
  }
}
/** A context with a key of its own. */
const known: Before = async ({folder}) => {
  const root = join(folder, 'config', 'gateway')
  mkdirSync(join(root, 'keys'), {recursive: true})
  writeFileSync(join(root, 'keys', 'prod'), WORKSPACE_KEY, {mode: 0o600})
  const prod = {name: 'prod', url: 'https://gateway.example.com', key_file: 'keys/prod', kind: 'key'}
  writeFileSync(join(root, 'contexts.yaml'), JSON.stringify({current: 'prod', contexts: [prod]}), {mode: 0o600})
}
/** What a command of certificates continues from. */
const certified =
  (verb: string): Before =>
  async ({folder}) => {
    const earlier = {init: [], create: ['init']}[verb] ?? ['init', 'create gateway.example.com']
    for (const words of earlier)
      await run(['certs', ...words.split(' '), '--data-dir', join(folder, 'data')], {now_ms: Date.now()})
  }

/**
 * What is done before an example of a command runs: a name that it makes is freed, what it goes on with is brought
 * there.
 */
export const BEFORE: Readonly<Record<string, Before>> = {
  'providers create': gone(['/providers/my-openai?workspace_id=research']),
  'integrations create': gone(['/integrations/shared-openai']),
  'virtual-keys create': gone(['/virtual-keys/old-openai?workspace_id=research']),
  'secret-references create': gone(['/secret-references/vault-mcp']),
  'mcp-integrations create': gone(['/mcp-integrations/house-docs']),
  'mcp-servers create': gone(['/mcp-servers/docs'], ['/mcp-servers/desk']),
  'mcp-servers connections': ({db}) =>
    db(async store => {
      const of = await store
        .selectFrom('mcp_servers')
        .select(['id', 'mcp_integration_id', 'organisation_id'])
        .where('slug', '=', 'docs')
        .where('status', '=', 'active')
        .executeTakeFirstOrThrow()
      const user = await store
        .selectFrom('users')
        .select('id')
        .where('email', '=', 'ada@example.com')
        .executeTakeFirstOrThrow()
      const at = new Date().toISOString()
      await putMcpConnection(store, {
        ...{mcp_integration_id: of.mcp_integration_id, mcp_server_id: of.id, user_id: user.id},
        ...{organisation_id: of.organisation_id, upstream: 'https://mcp.example.com', issuer: null},
        ...{tokens: Buffer.of(1), scope: null, expires_at: null, refresh_at: null, held_off_until: null},
        ...{created_at: at, last_updated_at: at},
      })
    }),
  'deployments create': gone(['/deployments/eu-1']),
  'labels create': async ({inject}) => {
    const {data} = (await inject('GET', '/labels?search=canary')) as {data: {id: string}[]}
    await inject('DELETE', `/labels/${data[0]!.id}`)
  },
  'organisations show': ({inject}) => inject('POST', '/operator/organisations', {name: 'Blue', slug: 'blue'}),
  'jwt show': ({inject}) => inject('POST', '/operator/organisations', {name: 'Blue', slug: 'blue'}),
  'jwt test': async ({inject, folder}) => {
    const {id} = (await inject('GET', '/admin/organisation')) as {id: string}
    const by = signer('EdDSA')
    const claims = {organisation_id: id, workspace_slug: 'research', scope: 'completions.write'}
    writeFileSync(join(folder, 'token.txt'), heldToken(by, claims, Date.now()))
    await inject('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [by.jwk]}, algorithms: ['EdDSA']}})
  },
  'sso create': ({inject}) => inject('PUT', '/admin/organisation/auth', {sso: {connections: []}}),
  'users create': userGone,
  'invites create': userGone,
  'members add': async ({inject}, argv) => {
    if (argv.includes('billing')) await inject('POST', '/admin/workspaces', {name: 'billing', slug: 'billing'})
    if (emailIn(argv) !== 'ada@example.com') return

    const {data} = (await inject('GET', '/admin/users')) as {data: {id: string; email: string}[]}
    await inject(
      'DELETE',
      `/admin/workspaces/research/users/${data.find(({email}) => email === 'ada@example.com')!.id}`,
    )
  },
  'invites accept': async ({inject, folder}) => {
    const {invite_link} = (await inject('POST', '/admin/users/invites', {
      email: 'new@example.com',
      role: 'member',
      workspaces: [{id: 'research', role: 'member'}],
    })) as {
      invite_link: string
    }
    writeFileSync(join(folder, 'invite-token'), invite_link.split('token=')[1]!)
  },
  'workspaces delete': async ({inject, db}) => {
    await db(store =>
      store.updateTable('workspaces').set({slug: 'usual', name: 'usual'}).where('slug', '=', 'research').execute(),
    )
    await inject('POST', '/admin/workspaces', {name: 'research', slug: 'research'})
  },
  ...Object.fromEntries(
    ['show', 'update', 'delete', 'entities', 'reset'].map(verb => [`policies usage ${verb}`, policy('usage')]),
  ),
  ...Object.fromEntries(
    ['show', 'update', 'delete', 'entities'].map(verb => [`policies rate ${verb}`, policy('rate')]),
  ),
  'logs show': ({db}) => db(logCall),
  'logs trace': ({db}) => db(logCall),
  'logs export start': exportIn('draft'),
  'logs export change': exportIn('draft'),
  'logs export cancel': exportIn('in_progress'),
  'logs export download': written,
  ...Object.fromEntries(
    ['init', 'create', 'renew', 'list', 'show', 'trust'].map(verb => [`certs ${verb}`, certified(verb)]),
  ),
  login: async ({folder}) => writeFileSync(join(folder, 'key.txt'), WORKSPACE_KEY),
  logout: known,
  ...Object.fromEntries(['list', 'use', 'show', 'delete'].map(verb => [`contexts ${verb}`, known])),
  'bundle keygen': async ({folder}) => {
    for (const name of ['prices.key', 'prices.pub']) rmSync(join(folder, name))
  },
  'bundle create': async ({folder}) => rmSync(join(folder, 'prices.bundle')),
  'bundle rollback': ({inject, folder}) => {
    const text = (name: string) => readFileSync(join(folder, name), 'utf8')
    return inject('POST', '/bundles', {bundle: JSON.parse(text('prices.bundle')), public_key: text('prices.pub')})
  },
  'prompts run': async ({inject, folder}) => {
    await inject('PUT', '/prompts/pp-greeting-1a2b3c', {patch: true, virtual_key: 'demo', model: 'echo'})
    await inject('PUT', '/prompts/pp-greeting-1a2b3c/makeDefault', {version: 4})
    writeFileSync(join(folder, 'key.txt'), 'gk-examples-workspace-key-of-at-least-32-chars')
  },
}
