import {find} from '../../src/providers/registry.ts'
import {type Draft, DraftFault} from './draft.ts'
import {camel, slugIn, title} from './names.ts'
import {answer, CASE, caseFile, EVENTS, FAULT_CASE, type Hole} from './provider-fixtures.ts'
import {template} from './template.ts'

const COMPATIBLE = 'src/providers/catalog/compatible.ts'
const NATIVE = 'src/providers/catalog/native.ts'
const CHAT_ROWS = 'test/providers/catalog/chat-rows.ts'
const ROWS = 'test/providers/catalog/rows.ts'
const REGISTRY_TEST = 'test/providers/registry.test.ts'
const ROW = /^ {2}row\('([^']+)'/gm
/** Has the form of an address, and is not the one that a test expects. */
const HOST = 'https://fill-in.example/v1'

/** A provider, whose wire is OpenAI's or its own; gives what is left to do. */
export function writeProvider(name: string, {own_wire}: {readonly own_wire: boolean}, draft: Draft): readonly string[] {
  const slug = slugIn(name)
  if (find(slug)) throw new DraftFault(`The provider ${slug} exists already.`)
  const steps = own_wire ? withDialect(slug, draft) : compatible(slug, draft)
  draft.replace(REGISTRY_TEST, /`(?=\.split\(\/\\s\+\/\)\n\ntest\()/, () => ` ${slug}\``)
  draft.replace(
    'README.md',
    /catalogue has (\d+) providers/,
    (_, count) => `catalogue has ${Number(count) + 1} providers`,
  )
  return [
    ...steps,
    'npm test -- test/providers/catalog/page.test.ts -u      # writes docs/providers.md; read its row',
    'npm test -- test/providers/catalog test/providers/registry.test.ts',
    'npm run format && npm run check && npm test -- test/floors.test.ts test/filled-in.test.ts',
  ]
}

function compatible(slug: string, draft: Draft): readonly string[] {
  const row = `  row('${slug}', '${title(slug)}', '${HOST}', CHAT), // FILL IN: its name, base URL and endpoints, as its documentation says\n`
  draft.insertSorted(COMPATIBLE, ROW, slug, row, /^\]$/m)
  draft.insertBefore(CHAT_ROWS, /^`$/m, `${slug} FILL-IN:the-whole-URL-that-its-chat-is-sent-to\n`)
  return [
    `Fill in the row in ${COMPATIBLE}. Add \`metered\` only where the documentation has stream_options.include_usage.`,
    `Fill in the line in ${CHAT_ROWS}: the full URL of its chat. Copy it from the documentation, not from the row.`,
  ]
}

function withDialect(slug: string, draft: Draft): readonly string[] {
  const id = camel(slug)
  const index = `src/providers/${slug}/index.ts`
  const fixtures = `test/fixtures/${slug}/chatComplete`
  const words = {slug, camel: id, title: title(slug)}
  draft.add(index, template('dialect.ts', words))
  draft.addImport(NATIVE, `import {${id}} from '../${slug}/index.ts'`)
  const row = `  row('${slug}', '${title(slug)}', '${HOST}', {translations: ${id}}), // FILL IN: its name, base URL and authentication, as its documentation says\n`
  draft.insertSorted(NATIVE, ROW, slug, row, /^\]$/m)
  draft.add(`test/providers/${slug}/${slug}.test.ts`, template('dialect.test.ts', words))
  const hole: Hole = {provider: slug}
  draft.add(`${fixtures}/text/case.json`, caseFile(CASE, hole))
  draft.add(`${fixtures}/text/reply.json`, answer())
  draft.add(`${fixtures}/text/events.txt`, EVENTS)
  draft.add(`${fixtures}/fault/case.json`, caseFile(FAULT_CASE, hole))
  draft.insertBefore(ROWS, /^\]$/m, rowCase(slug), /^export const ROWS/m)
  return [
    `Record reply.json and events.txt in ${fixtures}/text (CONTRIBUTING.md, Record a fixture). Fill in case.json beside them.`,
    `Write the translation in ${index}. src/providers/unified has the parts; src/providers/reka shows one that is far from OpenAI.`,
    `Fill in the row in ${NATIVE}, and the full request in ${ROWS}.`,
    `npm test -- test/providers/${slug}`,
  ]
}

function rowCase(slug: string): string {
  return `  post('${slug}', {body: chat}, 'FILL IN: the whole URL that its chat is sent to', bearer, {...chat, stream: false}),\n`
}
