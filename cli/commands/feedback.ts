import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readNumber, readPairs} from '../option-parsers.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {workspaceFor} from '../workspace.ts'

interface SayOptions {
  readonly weight?: string
  readonly metadata?: readonly string[]
}

/** `gateway feedback`: what traces were worth. */
export function feedback(): Command {
  return group('feedback', 'Feedback: what a trace was worth, from -10 to 10', [add(), change()])
}

function withSaying(command: Command): Command {
  return command
    .option('--weight <n>', 'from 0 to 1; 1 without it')
    .option('--metadata <name=value...>', 'texts that go with it')
}

function bodyOf(value: string, {weight, metadata}: SayOptions) {
  if (!/^-?\d{1,2}$/.test(value)) throw usageFault(`${value} is no whole number from -10 to 10.`)
  return {
    value: Number(value),
    ...(weight !== undefined && {weight: readNumber(weight, '--weight')}),
    ...(metadata && {metadata: readPairs(metadata, '--metadata')}),
  }
}

function add(): Command {
  const command = leaf('add', 'Say what a trace was worth', [
    'gateway feedback add checkout-4711 --value 8',
    'gateway feedback add checkout-4711 --value=-5 --weight 0.5 --metadata by=review',
  ])
    .argument('<trace>', 'id of the trace')
    .requiredOption('--value <n>', 'from -10 to 10')
  return withWorkspace(withSaying(command), 'the workspace of the trace').action(
    (trace_id: string, options: SayOptions & WorkspaceOption & {value: string}, self: Command) =>
      withGateway(self, async gateway => {
        const fields = bodyOf(options.value, options)
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const body = {trace_id, ...fields, ...(workspace_id !== undefined && {workspace_id})}
        const reply = await gateway.call('feedback.create', {body})
        gateway.print.made(reply, reply.feedback_ids[0]!, `The feedback ${reply.feedback_ids[0]} was kept.`)
      }),
  )
}

function change(): Command {
  const command = leaf('change', 'Say it anew', [
    'gateway feedback change 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11 --value 3',
  ])
    .argument('<id>', 'id of the feedback')
    .requiredOption('--value <n>', 'from -10 to 10')
  return withSaying(command).action((id: string, options: SayOptions & {value: string}, self: Command) =>
    withGateway(self, async ({call, print}) => {
      print.done(
        await call('feedback.update', {params: {id}, body: bodyOf(options.value, options)}),
        'The feedback was changed.',
      )
    }),
  )
}
