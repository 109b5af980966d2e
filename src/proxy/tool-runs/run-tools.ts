import {isObject} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {ServerTools, ToolOutcome, ToolsCaller} from '../../schema/server-tools.ts'
import type {Outcomes, TurnCall} from './dialect.ts'
import type {RunOffer} from './offer.ts'

/** Calls of one turn that run at a time; further ones wait. */
const AT_A_TIME = 8
/** A turn that calls more tools has the rest refused. */
const MOST_CALLS = 128

/** Runs the calls of a turn. `left`: how many more the run may make. */
export async function runTools(
  calls: readonly TurnCall[],
  of: {
    readonly offer: RunOffer
    readonly tools: ServerTools
    readonly caller: ToolsCaller
    readonly left: number
    readonly signal: AbortSignal
  },
): Promise<Outcomes> {
  const outcomes = new Map<string, ToolOutcome>()
  const most = Math.min(MOST_CALLS, of.left)
  for (const {id} of calls.slice(most))
    outcomes.set(id, refused(`Not run: ${most} calls were made, and no more may be.`))
  const waiting = calls.slice(0, most)
  const work = async () => {
    for (let call = waiting.shift(); call && !of.signal.aborted; call = waiting.shift())
      outcomes.set(call.id, await outcome(call, of))
  }
  await Promise.all(Array.from({length: Math.min(AT_A_TIME, waiting.length)}, work))
  return outcomes
}

async function outcome(
  {function_name, args}: TurnCall,
  {offer, tools, caller, signal}: Parameters<typeof runTools>[1],
): Promise<ToolOutcome> {
  const offered = offer.find(function_name)
  if (!offered) return refused(`Unknown tool: ${function_name}`)
  const text = args.trim() === '' ? '{}' : args
  const value = parsed(text)
  if (!isObject(value)) return refused('The arguments are not a JSON object.')
  return tools.call(offered.choice.slug, offered.tool, {text, value}, caller, signal)
}

function refused(text: string): ToolOutcome {
  return {is_error: true, text}
}
