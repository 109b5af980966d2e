import {existsSync, readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {openapi} from '../../src/admin/openapi.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'

/** The tags of the reference that are built; all of their operations must be there. */
const TAGS = [
  'Users',
  'User-invites',
  'Workspaces',
  'Workspaces > Members',
  'Api-Keys',
  'Audit Logs',
  'Logs',
  'Logs Export',
  'Feedback',
  'Analytics > Graphs',
  'Analytics > Summary',
  'Analytics > Groups',
  'Model Pricing',
  'Guardrails',
  'Usage Limits Policies',
  'Rate Limits Policies',
  'Collections',
  'Labels',
  'Prompts',
  'PromptPartials',
  'Secret-References',
  'MCP Integrations',
  'MCP Integrations > Workspaces',
  'MCP Integrations > Capabilities',
  'MCP Integrations > Metadata',
  'MCP Servers',
  'MCP Servers > Capabilities',
  'MCP Servers > User Access',
]
/** Of a later release than the one that is built, or of a part that comes later. */
const LATER_OPERATIONS = ['POST /prompts/{}/completions', 'POST /mcp-servers/{}/test']
const LATER_FIELDS = /^(rotation_policy|defaults\.user_api_key_config)/

/** Parameters of checks: those from the 17th form on are of services of partners. */
const isPartners = ({n, variant = '0'}: Field) =>
  n.startsWith('checks[].parameters.') && variant.split(',').every(form => Number(form) > 16)

interface Field {
  readonly n: string
  readonly req?: boolean | 'variant'
  readonly variant?: string
}

interface ReferenceOperation {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly query?: readonly {n: string}[]
  readonly body?: {readonly fields: readonly Field[]}
  readonly success: readonly {status: number; body?: {fields?: readonly string[]}}[]
  readonly scopes_any_of?: readonly string[]
}

const file = process.env.GATEWAY_REFERENCE ?? resolve(import.meta.dirname, '../../../shared/reference/admin-api.json')
const known: readonly ReferenceOperation[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).operations : []
const normal = ({method, path}: {method: string; path: string}) => `${method} ${path.replace(/\{[^}]+\}|:\w+/g, '{}')}`
const ours = new Map(OPERATIONS.map(each => [normal(each), each]))
const document = await openapi(OPERATIONS)
const wanted = known.filter(each => TAGS.includes(each.tag) && !LATER_OPERATIONS.includes(normal(each)))

describe.skipIf(!known.length)('the reference', () => {
  test('has the tags that are built', () => {
    expect(TAGS.filter(tag => !wanted.some(each => each.tag === tag))).toEqual([])
  })

  test.each(wanted.map(each => [normal(each), each] as const))('%s is as it says', (name, reference) => {
    const operation = ours.get(name)
    expect(operation, 'is served').toBeDefined()
    const said = document.paths[operation!.path.replace(/:(\w+)/g, '{$1}')]![operation!.method.toLowerCase()] as Said
    const body = said.requestBody?.content['application/json'].schema ?? {}
    const reply = said.responses[200].content['application/json'].schema
    const missing = {
      query: (reference.query ?? []).map(each => each.n).filter(each => !said.parameters.some(({name}) => name === each)),
      body: (reference.body?.fields ?? [])
        .filter(each => !isPartners(each))
        .map(each => each.n)
        .filter(each => !LATER_FIELDS.test(each) && !knows(body, each)),
      required: (reference.body?.fields ?? []).filter(
        each => each.req === true && !/[.[]/.test(each.n) && !forms(body).some(form => form.required?.includes(each.n)),
      ),
      reply: reference.success
        .flatMap(each => each.body?.fields ?? [])
        .map(each => each.split(/[!:]/, 1)[0]!)
        .filter(each => !LATER_FIELDS.test(each) && !knows(reply, each)),
      scopes: (reference.scopes_any_of ?? []).filter(each => !operation!.scopes?.includes(each)),
    }
    expect(missing).toEqual({query: [], body: [], required: [], reply: [], scopes: []})
  })
})

interface Schema {
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}
interface Said {
  readonly parameters: readonly {name: string}[]
  readonly requestBody?: {content: {'application/json': {schema: Schema}}}
  readonly responses: {200: {content: {'application/json': {schema: Schema}}}}
}

/** True when the schema has the field; `data[].id` goes through a list. */
function knows(schema: Schema, field: string): boolean {
  const steps = field.split('.').flatMap(part => part.split(/(\[\])/).filter(Boolean))
  let nodes = forms(schema)
  for (const step of steps) nodes = nodes.flatMap(node => below(node, step)).flatMap(forms)
  return nodes.length > 0
}

function below(node: Schema, step: string): Schema[] {
  const next = step === '[]' ? node.items : (node.properties?.[step] ?? node.additionalProperties)
  return typeof next === 'object' ? [next] : next === true ? [{}] : []
}

function forms(schema: Schema): Schema[] {
  return [schema, ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(forms)]
}
