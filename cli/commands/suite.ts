import {dirname, join} from 'node:path'
import type {Command} from 'commander'
import type {Unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {configFrom, structuredFrom} from '../structured.ts'
import type {CaseResult, Suite, SuiteCase} from '../suite.ts'
import {plain} from '../width.ts'
import {workspaceFor} from '../workspace.ts'

/** `gateway configs test`: a config held against cases; nothing is sent. */
export function test(): Command {
  const command = leaf('test', 'Hold a config against the cases of a suite; nothing is sent', [
    'gateway configs test suite.yaml',
    'gateway configs test suite.yaml --workspace research --json',
  ]).argument('<suite>', 'YAML or JSON with config and cases, or - for stdin (docs/configs.md)')
  return withWorkspace(command, 'workspace the calls come from').action(
    (path: string, options: WorkspaceOption, self: Command) =>
      withGateway(self, async gateway => {
        const {world, print} = gateway
        const {readSuite} = await import('../suite.ts')
        const suite = readSuite(await structuredFrom(world, path, 'SUITE'), path === '-' ? 'What stdin holds' : path)
        const config = await configOf(suite, path, gateway)
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const cases: CaseResult[] = []
        for (const each of suite.cases) {
          const result = await resultOf(each, {config, workspace_id}, gateway)
          cases.push(result)
          if (!print.json) for (const line of caseLines(result, print.quiet)) print.line(line)
        }
        const failed = cases.filter(({ok}) => !ok).length
        if (print.json) print.json_reply({object: 'suite', ok: failed === 0, cases})
        if (failed === 0) return print.note(cases.length === 1 ? 'The case holds.' : `All ${cases.length} cases hold.`)
        throw new CommandFault(`${failed} of ${cases.length} cases failed.`, {exit: EXIT.failure, code: 'suite_failed'})
      }),
  )
}

type SuiteConfig = Suite['config'] | Unchecked

/** A file is looked for beside the suite. */
function configOf({config}: Suite, suite: string, {world}: Gateway): Promise<SuiteConfig> {
  if (typeof config !== 'string') return Promise.resolve(config)
  const is_file = /[./\\]/.test(config)
  return configFrom(world, is_file && suite !== '-' ? join(dirname(suite), config) : config, 'config')
}

async function resultOf(
  each: SuiteCase,
  about: {readonly config: SuiteConfig; readonly workspace_id: string | undefined},
  gateway: Gateway,
): Promise<CaseResult> {
  const {judge, unasked} = await import('../suite.ts')
  const {request, when, seed, at} = each
  const body = {
    ...about,
    request,
    ...(when && {answers: when}),
    ...(seed !== undefined && {seed}),
    ...(at !== undefined && {at}),
  }
  try {
    return judge(each, await gateway.call('configs.explain', {body}))
  } catch (fault) {
    if (!(fault instanceof CommandFault) || fault.status !== 400) throw fault
    return unasked(each, fault.message)
  }
}

function caseLines({name, ok, differences}: CaseResult, quiet: boolean): string[] {
  if (ok) return quiet ? [] : [plain(`ok      ${name}`)]
  return [
    `failed  ${name}`,
    ...differences.flatMap(({field, expected, found}) => [
      `        ${field}: expected ${expected}`,
      `        ${' '.repeat(field.length)}     found ${found}`,
    ]),
  ].map(plain)
}
