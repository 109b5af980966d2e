import {parseArgs} from 'node:util'
import {writeCheck} from './check.ts'
import {Draft, DraftFault} from './draft.ts'
import {writeOperation} from './operation.ts'
import {writeProvider} from './provider.ts'

const USAGE = `usage: npm run new -- provider NAME [--own-wire] | operation NOUN.VERB | check NAME
  provider    a provider with OpenAI's wire format: npm run new -- provider acme
  --own-wire  a provider with its own wire format: adds a dialect and fixtures
  operation   an administration operation: npm run new -- operation widgets.list
  check       a guardrail check: npm run new -- check starts-with
  --dry-run   lists the files and writes nothing
CONTRIBUTING.md explains the steps that follow.`
const OPTIONS = {'own-wire': {type: 'boolean'}, 'dry-run': {type: 'boolean'}} as const

/** The result of `npm run new`. */
export interface Done {
  /** The exit code: 0, 1 for what cannot be made, 2 for a wrong command line. */
  readonly code: 0 | 1 | 2
  readonly output: string
  readonly written: readonly string[]
}

/** Writes a skeleton into the tree at `root`, not formatted yet. `words` are those of the command line. */
export function runNew(words: readonly string[], root: string): Done {
  const read = readWords(words)
  if (typeof read === 'string') return {code: 2, output: `gateway: ${read}\n${USAGE}`, written: []}
  const draft = new Draft(root)
  try {
    const steps = stepsOf(read, draft)
    const files = draft.changes.map(({path, is_new}) => `${is_new ? 'new ' : 'edit'}  ${path}`).join('\n')
    if (read.is_dry) return {code: 0, output: `${files}\n\nNothing was written (--dry-run).`, written: []}
    draft.save()
    const next = steps.map((step, at) => `  ${at + 1}. ${step}`).join('\n')
    return {code: 0, output: `${files}\n\nNext:\n${next}`, written: draft.changes.map(({path}) => path)}
  } catch (error) {
    if (error instanceof DraftFault) return {code: 1, output: `gateway: ${error.message}`, written: []}
    throw error
  }
}

const KINDS = ['provider', 'operation', 'check'] as const

interface Read {
  readonly kind: (typeof KINDS)[number]
  readonly name: string
  readonly own_wire: boolean
  readonly is_dry: boolean
}

/** The request in the words, or their fault. */
function readWords(words: readonly string[]): Read | string {
  try {
    const {values, positionals} = parseArgs({args: [...words], options: OPTIONS, allowPositionals: true})
    const [text, name, ...more] = positionals
    if (!text || !name || more.length > 0) return 'give a kind and one name'
    const kind = KINDS.find(each => each === text)
    if (!kind) return `${text} is not a kind: use provider, operation or check`
    if (values['own-wire'] && kind !== 'provider') return '--own-wire is for a provider'
    return {kind, name, own_wire: values['own-wire'] === true, is_dry: values['dry-run'] === true}
  } catch (error) {
    return (error as Error).message
  }
}

function stepsOf({kind, name, own_wire}: Read, draft: Draft): readonly string[] {
  if (kind === 'provider') return writeProvider(name, {own_wire}, draft)
  return kind === 'operation' ? writeOperation(name, draft) : writeCheck(name, draft)
}
