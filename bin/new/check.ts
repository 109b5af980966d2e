import {BUILT_IN} from '../../src/guardrails/registry.ts'
import {type Draft, DraftFault} from './draft.ts'
import {camel, slugIn, title} from './names.ts'
import {template} from './template.ts'

const REGISTRY = 'src/guardrails/registry.ts'
const CASES = 'test/guardrails/cases-text.ts'
/** The cases fail until the expected explanation is written. */
const SAYS = `says: 'FILL IN: words of the explanation'`

/** A guardrail check; gives what is left to do. */
export function writeCheck(name: string, draft: Draft): readonly string[] {
  const slug = slugIn(name)
  const id = camel(slug)
  const known = BUILT_IN.find(`default.${id}`)
  if (known) throw new DraftFault(`The check ${known.id} exists already.`)
  const file = `src/guardrails/checks/${slug}.ts`
  draft.add(file, template('check.ts', {camel: id, title: title(slug)}))
  draft.addImport(REGISTRY, `import {${id}} from './checks/${slug}.ts'`)
  draft.insertBefore(REGISTRY, /^\]$/m, `  ${id},\n`, /^export const CHECKS/m)
  draft.insertBefore(CASES, /^\]$/m, template('check-cases', {camel: id, says: SAYS}), /^export const textCases/m)
  return [
    `Fill in ${file}: title, about, sides, parameters, and the judgement. Parameters need: import {z} from 'zod'.`,
    `Fill in the cases at the end of ${CASES}. Cases about the call belong in cases-call.ts, cases with HTTP in cases-service.ts.`,
    'Add a line to PARAMETERS in test/guardrails/hostile.ts when a parameter is required.',
    'npm test -- test/guardrails/checks.test.ts test/guardrails/hostile.test.ts',
    'npm test -- test/guardrails/page.test.ts -u      # writes docs/guardrails.md; read its chapter',
    'npm run format && npm run check && npm test -- test/filled-in.test.ts',
  ]
}
