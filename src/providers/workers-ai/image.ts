import {InvalidResponse, type Translation} from '../translation.ts'
import {fromBase64, imageList, promptIn, sizeIn} from '../unified/images.ts'
import {modelPath, oneChoice, pick} from '../unified/read.ts'
import {resultIn} from './chat.ts'

/** Pictures. Source: developers.cloudflare.com, Workers AI, text to image: bytes of a picture, or JSON with base64 under `result`. */
export const image: Translation = {
  request(asked, context) {
    oneChoice(asked)
    const {width, height} = sizeIn(asked) ?? {}
    return {
      path: `/${modelPath(context)}`,
      body: {prompt: promptIn(asked), width, height, ...pick(asked, 'negative_prompt steps>num_steps num_steps seed guidance strength')},
    }
  },
  reply(said, context, asked) {
    if (said instanceof Uint8Array) return imageList(context, asked, [{b64_json: Buffer.from(said).toString('base64')}])
    const picture = fromBase64(resultIn(said).image)
    if (!picture) throw new InvalidResponse('result.image: expected a picture')
    return imageList(context, asked, [picture])
  },
}
