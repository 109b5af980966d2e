import {type Dialect, InvalidResponseFault, type Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {fromBase64, imageList, manyIn, promptIn, sizeIn} from '../unified/images.ts'
import {modelPath, objectIn, pick} from '../unified/read.ts'

/**
 * Source: segmind.com, models' API pages: one path a model; with `base64` the answer is JSON, else the bytes of a
 * picture.
 */
const imageGenerate: Translation = {
  request(request, context) {
    const size = sizeIn(request)
    return {
      path: `/${modelPath(context)}`,
      body: {
        prompt: promptIn(request),
        samples: manyIn(request),
        ...(size ? {img_width: size.width, img_height: size.height} : {}),
        ...pick(
          request,
          'negative_prompt style scheduler num_inference_steps steps>num_inference_steps guidance_scale seed strength refiner',
        ),
        base64: true,
      },
    }
  },
  reply(response, context, request) {
    if (response instanceof Uint8Array)
      return imageList(context, request, [{b64_json: Buffer.from(response).toString('base64')}])
    const {image} = objectIn(response)
    const pictures = (Array.isArray(image) ? image : [image]).flatMap(one => fromBase64(one) ?? [])
    if (pictures.length === 0) throw new InvalidResponseFault('image: expected a picture')
    return imageList(context, request, pictures)
  },
}

/** Segmind: pictures. Base URL with `/v1`. */
export const segmind: Dialect = {name: 'segmind', endpoints: {imageGenerate}, fault: readFault}
