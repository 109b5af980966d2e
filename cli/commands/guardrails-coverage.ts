import type {Command} from 'commander'
import type {GuardrailCovered} from '../../src/schema/guardrail-trials.ts'
import {unchecked} from '../client.ts'
import {withGateway} from '../connect.ts'
import {type GuardrailOption, guardrailOf, withGuardrail} from '../guardrail.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'

type CoveredOperation = GuardrailCovered['operations'][number]
type Side = CoveredOperation['sides'][number]

interface CoverageOptions extends WorkspaceOption, GuardrailOption {}

const COLUMNS: readonly TableColumn<CoveredOperation>[] = [
  {title: 'operation', value: row => row.operation, whole: true},
  {title: 'path', value: row => `${row.method} ${row.path}`, optional: 1},
  {title: 'input', value: row => sideOf(row, 'input') + rowsOf(row)},
  {title: 'output', value: row => sideOf(row, 'output')},
]

/** A guardrail that has every kind of check: what it judges is what any may judge. */
const ANY = {
  checks: [
    {id: 'default.contains', name: 'forbids', parameters: {words: ['-'], operator: 'none'}},
    {id: 'default.wordCount', name: 'requires', parameters: {minWords: 0, maxWords: 1}},
  ],
}

/** `gateway guardrails coverage`: what is judged of each operation, what is skipped, and why. */
export function coverage(): Command {
  const command = leaf(
    'coverage',
    'Say what a guardrail judges of each operation of a provider, what it skips, and why',
    [
      'gateway guardrails coverage pg-house-1a2b3c',
      'gateway guardrails coverage --file-guardrail guardrail.yaml --json',
      'gateway guardrails coverage',
    ],
  )
  withGuardrail(command)
  return withWorkspace(command, 'workspace of the guardrail').action(
    (name: string | undefined, options: CoverageOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {print} = gateway
        const is_named = name !== undefined || options.fileGuardrail !== undefined
        const guardrail = is_named ? await guardrailOf(gateway, name, options) : unchecked(ANY)
        const body = {guardrail, workspace_id: await workspaceFor(gateway, options.workspace)}
        const covered = await gateway.call('guardrails.coverage', {body})
        print.list(covered, covered.operations, COLUMNS)
        if (print.json || print.quiet) return
        const {bodies, over_mb} = covered.unreadable
        const outcome =
          bodies === 'deny' ? 'are denied where a guardrail denies or redacts' : 'pass, and the log says skipped'
        print.line(
          `Calls with other files, sound, or bodies over ${over_mb} MB ${outcome} (UNREADABLE_BODIES=${bodies}).`,
        )
      }),
  )
}

/** `; each row of its file: default.contains` */
function rowsOf({rows}: CoveredOperation): string {
  return rows === undefined ? '' : `; each row of its file: ${rows.join(', ') || 'nothing'}`
}

const REASONS: Readonly<Record<Side['skipped'][number]['reason'], string>> = {
  other_side: 'for the other side',
  no_body: 'no body',
  no_text: 'no text; every_route judges it',
  not_text: 'asks for more than strings',
  not_here: 'not on this route',
}

/** `default.contains; skips default.wordCount (asks for more than strings)` */
function sideOf({sides}: CoveredOperation, side: Side['side']): string {
  const {judged, skipped} = sides.find(each => each.side === side)!
  const by_reason = Map.groupBy(skipped, ({reason}) => reason)
  const skips = [...by_reason].map(
    ([reason, checks]) => `${judged.length ? `${checks.map(({id}) => id).join(', ')} ` : ''}(${REASONS[reason]})`,
  )
  if (!skips.length) return judged.join(', ')
  return `${judged.length ? `${judged.join(', ')}; skips ` : 'nothing '}${skips.join(', ')}`
}
