import {type Dialect, InvalidResponse, type Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {fromBase64, imageList, manyIn, promptIn, sizeIn} from '../unified/images.ts'
import {modelPath, objectIn, pick} from '../unified/read.ts'

/** Source: segmind.com, models' API pages: one path a model; with `base64` the answer is JSON, else the bytes of a picture. */
const imageGenerate: Translation = {
  request(asked, context) {
    const size = sizeIn(asked)
    return {
      path: `/${modelPath(context)}`,
      body: {
        prompt: promptIn(asked),
        samples: manyIn(asked),
        ...(size ? {img_width: size.width, img_height: size.height} : {}),
        ...pick(
          asked,
          'negative_prompt style scheduler num_inference_steps steps>num_inference_steps guidance_scale seed strength refiner',
        ),
        base64: true,
      },
    }
  },
  reply(said, context, asked) {
    if (said instanceof Uint8Array) return imageList(context, asked, [{b64_json: Buffer.from(said).toString('base64')}])
    const {image} = objectIn(said)
    const pictures = (Array.isArray(image) ? image : [image]).flatMap(one => fromBase64(one) ?? [])
    if (pictures.length === 0) throw new InvalidResponse('image: expected a picture')
    return imageList(context, asked, pictures)
  },
}

/** Segmind: pictures. Base URL with `/v1`. */
export const segmind: Dialect = {name: 'segmind', endpoints: {imageGenerate}, fault: readFault}
