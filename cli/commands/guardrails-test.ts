import type {Command} from 'commander'
import {isObject} from '../../src/base/json-object.ts'
import type {GuardrailTested} from '../../src/schema/guardrail-trials.ts'
import type {CheckResult} from '../../src/schema/guardrails.ts'
import {type Unchecked, unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {type GuardrailOption, guardrailOf, withGuardrail} from '../guardrail.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import {plain} from '../width.ts'
import {workspaceFor} from '../workspace.ts'

interface TestOptions extends WorkspaceOption, GuardrailOption {
  readonly file: string
  readonly response?: string
}

/** `gateway guardrails test`: what a guardrail makes of a call that is not made. */
export function test(): Command {
  const command = leaf(
    'test',
    'Say what a guardrail makes of a call and of its answer; no model is asked. Exits with 1 when it denies',
    [
      'gateway guardrails test pg-house-1a2b3c --file request.json',
      'gateway guardrails test --file-guardrail guardrail.yaml --file request.json --response answer.json --json',
    ],
  )
  withGuardrail(command)
    .requiredOption(
      '--file <file>',
      'JSON or YAML with the body of a chat call, or with method, path, headers and body; or - for stdin',
    )
    .option('--response <file>', 'JSON or YAML with the body of an answer to judge too')
  return withWorkspace(command, 'workspace the call comes from').action(
    (name: string | undefined, options: TestOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {world, print} = gateway
        const body = {
          guardrail: await guardrailOf(gateway, name, options),
          request: requestIn(await structuredFrom(world, options.file, '--file')),
          ...(options.response !== undefined && {
            response: {body: await structuredFrom(world, options.response, '--response')},
          }),
          workspace_id: await workspaceFor(gateway, options.workspace),
        }
        const tested = await gateway.call('guardrails.test', {body})
        if (print.json) print.json_reply(tested)
        else tell(tested, gateway)
        if (tested.is_denied)
          throw new CommandFault('The guardrail denies it.', {exit: EXIT.failure, code: 'guardrail_denied'})
      }),
  )
}

const PARTS: readonly string[] = ['method', 'path', 'headers', 'body']

/** A request as it is described, or the body of a chat call alone. */
function requestIn(entry: Unchecked): Unchecked {
  return isObject(entry) && PARTS.some(part => Object.hasOwn(entry, part)) ? entry : unchecked({body: entry})
}

function tell({sides}: GuardrailTested, {print}: Gateway) {
  for (const {side, outcome, result, is_transformed, body, headers} of sides) {
    print.line(`${side}: ${outcome}`)
    if (print.quiet) continue
    for (const check of (result.checks ?? []) as CheckResult[]) print.line(plain(`  ${checkLine(check)}`))
    for (const [name, value] of Object.entries(headers)) print.line(plain(`  sends ${name}: ${value}`))
    if (is_transformed) print.line(`  body: ${plain(JSON.stringify(body))}`)
  }
}

function checkLine({id, verdict, error, skipped, transformed, execution_time, data}: CheckResult): string {
  if (skipped) return `- ${id}: does not run here`
  const {explanation, textExcerpt: excerpt} = (data ?? {}) as {explanation?: string; textExcerpt?: string}
  const facts = [`${execution_time} ms`, error && 'could not judge', transformed && 'changed the body']
    .filter(Boolean)
    .join(', ')
  const shown = !verdict && excerpt ? ` ${JSON.stringify(excerpt)}` : ''
  return `${verdict ? '✓' : error ? '!' : '✗'} ${id} (${facts})${explanation ? ` ${explanation}` : ''}${shown}`
}
