import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {type Score, scoring} from '../injection/score.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'
import type {View} from '../view.ts'

export const promptInjection = check({
  id: 'default.promptInjection',
  title: 'Prompt injection',
  about:
    'Passes if a heuristic score of known injection phrases stays below the threshold. It matches phrases, not their meaning.',
  sides: ['input', 'output'],
  shape: {
    threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.5)
      .describe('Scores from here on fail: 0.5 takes one plain phrase, 0.8 two or more.'),
    not,
  },
  part: ({not}) => !not,
  forbids: ({not}) => !not,
  parameter_aliases: {prompt_injection_threshold: 'threshold'},
  run: (view, parameters) => inTimeSlices(judging(view, parameters)),
})

function* judging(
  view: View,
  {threshold, not}: {readonly threshold: number; readonly not: boolean},
): SlicedWork<Verdict> {
  const {score, rules, is_discussed} = yield* highest(view.texts)
  const fired = rules.map(({id}) => id)
  const sentence = fired.length ? `rules that fired: ${fired.join(', ')}` : 'no rule fired'
  return judged(
    score < threshold,
    {
      explanation: `A heuristic gives ${score} of 1, the threshold is ${threshold}; ${sentence}.`,
      ...{method: 'heuristic', score, threshold, rules, is_discussed, textExcerpt: excerpt(view.text)},
    },
    not,
  )
}

function* highest(texts: readonly string[]): SlicedWork<Score> {
  let best: Score = {score: 0, rules: [], is_discussed: false}
  for (const text of texts) {
    const scored = yield* scoring(text)
    if (scored.score > best.score) best = scored
  }
  return best
}
