import {object} from '../../base/json-object.ts'
import {finishReason} from '../chat.ts'
import {InvalidResponseFault, type Translation, UnsupportedInputFault} from '../translation.ts'
import {arrayIn, modelPath, mostTokens, objectIn, pick, stopsIn, stringIn, usageOf, word} from '../unified/read.ts'
import {textChoice, textCompletion, textPrompt} from '../unified/texts.ts'
import {FINISH, SETTINGS} from './jurassic.ts'

/**
 * Text completions of the Jurassic models; usage is counted from the tokens they list. Source: docs.ai21.com, J2
 * complete.
 */
export const complete: Translation = {
  request(request, context) {
    if (context.is_stream) throw new UnsupportedInputFault('stream', 'the model does not stream')
    const settings = {...pick(request, SETTINGS), maxTokens: mostTokens(request), stopSequences: stopsIn(request)}
    return {path: `/${modelPath(context)}/complete`, body: {prompt: textPrompt(request), ...settings}}
  },
  reply(response, context) {
    const {id, prompt, completions} = objectIn(response)
    const made = arrayIn(completions, 'completions')
    if (made.length === 0) throw new InvalidResponseFault('completions: expected some')
    let output = 0
    const choices = made.map((one, at) => {
      const {data, finishReason: ended} = object(one)
      const {text, tokens} = object(data)
      output += Array.isArray(tokens) ? tokens.length : 0
      return textChoice(
        at,
        stringIn(text, 'completions.data.text'),
        finishReason(object(ended).reason, FINISH, context.strict),
      )
    })
    const {tokens} = object(prompt)
    const usage = Array.isArray(tokens) ? usageOf({input: tokens.length, output}) : null
    return {body: textCompletion(context, {id: word(id) ?? numbered(id), choices, usage}), usage, model: null}
  },
}

/** Older answers number themselves. */
function numbered(id: unknown): string | null {
  return typeof id === 'number' ? String(id) : null
}
