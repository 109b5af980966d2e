import {setImmediate as pause} from 'node:timers/promises'
import {z} from 'zod'
import {check, excerpt, judged, not} from '../check.ts'
import {type Score, scoring} from '../injection/score.ts'

export const promptInjection = check({
  id: 'default.promptInjection',
  title: 'Prompt injection',
  about: 'Passes when a heuristic score of known injection phrases stays below the threshold. It knows phrases, not what they mean.',
  sides: ['input', 'output'],
  shape: {
    threshold: z.number().gt(0).max(1).default(0.5).describe('Scores from here on fail: 0.5 takes one plain phrase, 0.8 two or more.'),
    not,
  },
  parameter_aliases: {prompt_injection_threshold: 'threshold'},
  async run(view, {threshold, not}) {
    const {score, rules, is_discussed} = await highest(view.texts)
    const fired = rules.map(({id}) => id)
    const said = fired.length ? `rules that fired: ${fired.join(', ')}` : 'no rule fired'
    return judged(
      score < threshold,
      {
        explanation: `A heuristic gives ${score} of 1, the threshold is ${threshold}; ${said}.`,
        ...{method: 'heuristic', score, threshold, rules, is_discussed, textExcerpt: excerpt(view.text)},
      },
      not,
    )
  },
})

const STEPS_AT_ONCE = 8

async function highest(texts: readonly string[]): Promise<Score> {
  let best: Score = {score: 0, rules: [], is_discussed: false}
  for (const text of texts) {
    const steps = scoring(text)
    let step = steps.next()
    for (let count = 1; !step.done; step = steps.next(), count++) if (text.length > LONG && count % STEPS_AT_ONCE === 0) await pause()
    if (step.value.score > best.score) best = step.value
  }
  return best
}

/** Code units; a shorter text is scored at once. */
const LONG = 16_384
