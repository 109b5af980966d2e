import type {Command} from 'commander'
import type {Gateway} from './connect.ts'
import {usageFault} from './fault.ts'
import {slugByName} from './finding/by-name.ts'
import {structuredFrom} from './structured.ts'

export interface GuardrailOption {
  readonly fileGuardrail?: string
}

/** Adds the two ways to say which guardrail: a saved one's name, or a file. */
export function withGuardrail(command: Command): Command {
  return command
    .argument('[name]', 'name, slug or id of a saved guardrail')
    .option('--file-guardrail <file>', 'one that is not saved: JSON or YAML with checks and actions')
}

/** The guardrail that was named, as the operations take it. */
export async function guardrailOf(gateway: Gateway, name: string | undefined, {fileGuardrail}: GuardrailOption) {
  if ((name === undefined) === (fileGuardrail === undefined))
    throw usageFault('Name one guardrail: the slug of a saved one, or a file with --file-guardrail.')
  if (name !== undefined) return slugByName(gateway, 'guardrails.list', name)
  return structuredFrom(gateway.world, String(fileGuardrail), '--file-guardrail')
}

export interface DefaultGuardrailOptions {
  readonly inputGuardrails?: readonly string[] | false
  readonly outputGuardrails?: readonly string[] | false
}

/** Adds the words that say which guardrails run on every call of `whom`. */
export function withDefaultGuardrails(command: Command, whom: string): Command {
  return command
    .option('--input-guardrails <name...>', `guardrails for what every call of ${whom} asks, by name, slug or id`)
    .option('--output-guardrails <name...>', 'the same for what is answered')
    .option('--no-input-guardrails', 'none of those')
    .option('--no-output-guardrails', 'none of these')
}

/** The same as the operations take them; what was not given is absent. */
export async function defaultGuardrailsOf(
  gateway: Gateway,
  {inputGuardrails: input, outputGuardrails: output}: DefaultGuardrailOptions,
) {
  return {
    ...(input !== undefined && {input_guardrails: input ? await slugsByName(gateway, input) : null}),
    ...(output !== undefined && {output_guardrails: output ? await slugsByName(gateway, output) : null}),
  }
}

async function slugsByName(gateway: Gateway, names: readonly string[]): Promise<string[]> {
  const slugs: string[] = []
  for (const name of names) slugs.push(await slugByName(gateway, 'guardrails.list', name))
  return slugs
}
