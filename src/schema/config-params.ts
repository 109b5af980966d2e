import {text} from './config-readers.ts'

/** One step of a path into a body: a member, an element, or all elements (`'*'` of the kind `each`). */
export type ParamStep = {readonly member: string} | {readonly element: number} | {readonly each: true}

const LONGEST = 512
const MAX_STEPS = 32

/**
 * `a.b`, `tools[0].x`, `messages[*].content[*].y` apart; undefined for what is no such path (docs/configs.md, Keys).
 */
export function parseParamPath(path: string): readonly ParamStep[] | undefined {
  if (path.length > LONGEST || path.startsWith('.')) return undefined
  const steps: ParamStep[] = []
  const step = /(^|\.)([^.[\]]+)|\[(?:(\d{1,6})|(\*))\]/y
  while (step.lastIndex < path.length) {
    const [, , member, element, each] = step.exec(path) ?? []
    if (member !== undefined) steps.push({member})
    else if (element !== undefined && steps.length) steps.push({element: Number(element)})
    else if (each !== undefined && steps.length) steps.push({each: true})
    else return undefined
  }
  return steps.length && steps.length <= MAX_STEPS ? steps : undefined
}

export const paramPath = text(
  'a path such as a.b, tools[0].x or messages[*].content[*].y',
  value => parseParamPath(value) !== undefined,
)
