import type {Draft} from './draft.ts'
import {camel, singular, title} from './names.ts'
import {commandFile, groupFile} from './operation-command.ts'
import {NONE, type Shape, shapeOf} from './operation-shape.ts'
import {template} from './template.ts'

const REGISTRY = 'src/admin/registry.ts'
const MATRIX = 'test/admin/matrix-rows.ts'
const BODIES = 'src/admin/openapi/bodies.ts'
const COMMANDS = 'cli/operations.ts'
const PROGRAM = 'cli/program.ts'

/** An operation of the administration; gives what is left to do. */
export function writeOperation(id: string, draft: Draft): readonly string[] {
  const shape = shapeOf(id, draft)
  const {stem} = shape
  const schema = `src/schema/${stem}.ts`
  const admin = `src/admin/${stem}.ts`
  draft.add(schema, schemaFile(shape))
  draft.add(admin, adminFile(shape))
  draft.addImport(REGISTRY, `import {${camel(stem)}} from './${stem}.ts'`)
  draft.insertBefore(REGISTRY, /^\]\)$/m, `  ...${camel(stem)},\n`, /^const SERVED/m)
  if (shape.has_body) draft.insertBefore(BODIES, /^\}$/m, `  '${id}': {name: 'Search'},\n`, /^export const BODIES/m)
  draft.insertBefore(MATRIX, /^\}$/m, `  '${id}': ${askedOf(shape)},\n`, /^export const ASKED/m)
  draft.insertBefore(COMMANDS, /^\}$/m, `  '${id}': '${shape.command.join(' ')}',\n`, /^const COMMANDS/m)
  const command = writeCommand(shape, draft)
  const own = `test/admin/${stem}.test.ts`
  draft.add(own, testFile(shape))
  return [
    `Fill in ${own}: the full reply, and one test for each refusal.`,
    `Fill in ${schema}. Put SQL into src/store/${stem}.ts; a new table needs a migration (CONTRIBUTING.md, Add a migration).`,
    `Fill in ${admin}: ${shape.method === 'GET' ? 'path, summary and scopes' : 'path, summary, scopes and audit'}, and the work. A new scope needs src/identity/scopes.ts and ${MATRIX}.`,
    `Fill in ${command}: what the command takes and prints. A test runs its example.`,
    `Change its line in ${MATRIX} when it asks for something in a workspace.`,
    `npm test -- ${own} test/admin/matrix.test.ts test/admin/openapi.test.ts test/admin/openapi-examples.test.ts test/admin/hostile.test.ts`,
    'npm test -- test/cli/help-examples.test.ts',
    'npm run format && npm run check && npm test -- test/floors.test.ts test/filled-in.test.ts',
  ]
}

/** The command, in the group that there is or in a new one; gives its file. */
function writeCommand(shape: Shape, draft: Draft): string {
  const {stem} = shape
  const [group] = shape.command
  const there = `cli/commands/${group}.ts`
  if (!draft.has(there)) {
    draft.add(there, groupFile(shape))
    draft.addImport(PROGRAM, `import {${camel(group)}} from './commands/${group}.ts'`)
    draft.insertBefore(PROGRAM, /^ {2}\]\)$/m, `    ${camel(group)}(),\n`, /What it holds/)
    return there
  }
  const path = `cli/commands/${stem}.ts`
  draft.add(path, commandFile(shape))
  draft.addImport(there, `import {${camel(stem)}} from './${stem}.ts'`)
  const inGroup = new RegExp(`(return group\\('${group}'[\\s\\S]*?),?(\\s*)\\]\\)$`, 'm')
  draft.replace(there, inGroup, (_, before, space) => `${before}, ${camel(stem)}()${space}])`)
  return path
}

function askedOf({param, has_body}: Shape): string {
  const params = param ? [`params: {${param}: '${NONE}'}`] : []
  return `() => ({${[...params, ...(has_body ? [`body: {name: 'Made'}`] : [])].join(', ')}})`
}

function schemaFile({noun, verb, has_body, param}: Shape): string {
  const name = camel(`_${singular(noun)}`)
  const view = `/** FILL IN: the fields of one of them. */
export const ${name}View = z.strictObject({id: z.uuid()})
`
  const list =
    verb === 'list' ? `\nexport const ${name}List = z.strictObject({total: z.int(), data: z.array(${name}View)})\n` : ''
  const params = param
    ? `\nexport const ${name}Params = z.strictObject({${param}: z.uuid().describe('Id of the ${singular(noun).replaceAll('_', ' ')}.')})\n`
    : ''
  const body = has_body
    ? `\n/** FILL IN: the fields that are sent. */\nexport const ${name}Body = z.strictObject({name: z.string().min(1).max(255)})\n`
    : ''
  return `import {z} from 'zod'\n\n${view}${list}${params}${body}`
}

function adminFile({id, noun, verb, stem, method, path, param, has_body}: Shape): string {
  const name = camel(`_${singular(noun)}`)
  const reply = verb === 'list' ? `${name}List` : `${name}View`
  const is_read = method === 'GET'
  const members = [
    ...(is_read ? [] : [`audit: {resource: '${singular(noun).replaceAll('_', ' ')}', action: '${verb}'}`]),
    ...(param ? [`params: ${name}Params`] : []),
    ...(has_body ? [`body: ${name}Body`] : []),
  ]
  const made = verb === 'list' ? '{total: 0, data: []}' : param ? `{id: call.params.${param}}` : '{id: newId()}'
  return template('operation.ts', {
    ...{id, stem, method, path, reply, made},
    ids: made.includes('newId') ? `import {newId} from '../base/ids.ts'\n` : '',
    schemas: [reply, ...(param ? [`${name}Params`] : []), ...(has_body ? [`${name}Body`] : [])].join(', '),
    imported: param ? 'type OperationCall, operation' : 'operation',
    camel: camel(stem),
    tag: title(noun),
    scope: `organisation_settings.${is_read ? 'read' : 'update'}`,
    members: members.map(member => `    ${member},\n`).join(''),
    handle: `handle${camel(`_${verb}`)}`,
    call: param ? `call: OperationCall<typeof ${name}Params${has_body ? `, undefined, typeof ${name}Body` : ''}>` : '',
  })
}

function testFile({id, method, path, param, has_body}: Shape): string {
  const body = has_body ? `, {name: 'Made'}` : ''
  return template('operation.test.ts', {id, method, path: param ? path.replace(`:${param}`, NONE) : path, body})
}
