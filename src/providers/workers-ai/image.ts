import {InvalidResponseFault, type Translation} from '../translation.ts'
import {fromBase64, imageList, promptIn, sizeIn} from '../unified/images.ts'
import {modelPath, oneChoice, pick} from '../unified/read.ts'
import {resultIn} from './chat.ts'

/**
 * Pictures. Source: developers.cloudflare.com, Workers AI, text to image: bytes of a picture, or JSON with base64 under
 * `result`.
 */
export const image: Translation = {
  request(request, context) {
    oneChoice(request)
    const {width, height} = sizeIn(request) ?? {}
    return {
      path: `/${modelPath(context)}`,
      body: {
        prompt: promptIn(request),
        width,
        height,
        ...pick(request, 'negative_prompt steps>num_steps num_steps seed guidance strength'),
      },
    }
  },
  reply(reply, context, request) {
    if (reply instanceof Uint8Array)
      return imageList(context, request, [{b64_json: Buffer.from(reply).toString('base64')}])
    const picture = fromBase64(resultIn(reply).image)
    if (!picture) throw new InvalidResponseFault('result.image: expected a picture')
    return imageList(context, request, [picture])
  },
}
