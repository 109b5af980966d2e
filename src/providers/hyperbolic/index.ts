import {object} from '../../base/json-object.ts'
import {type Dialect, InvalidResponseFault, type Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {fromBase64, imageList, manyIn, promptIn, sizeIn} from '../unified/images.ts'
import {arrayIn, objectIn, pick} from '../unified/read.ts'

/** Source: docs.hyperbolic.xyz, image generation. */
const imageGenerate: Translation = {
  request: (request, context) => ({
    path: '/image/generation',
    body: {
      model_name: context.model,
      prompt: promptIn(request),
      ...(sizeIn(request) ?? {}),
      num_images: manyIn(request),
      ...pick(request, 'negative_prompt steps seed cfg_scale backend strength image loras style_preset enable_refiner'),
    },
  }),
  reply(response, context, request) {
    const {images} = objectIn(response)
    const pictures = arrayIn(images, 'images').map(image => {
      const picture = fromBase64(object(image).image)
      if (!picture) throw new InvalidResponseFault('images: expected base64')
      return picture
    })
    return imageList(context, request, pictures)
  },
}

/** Hyperbolic's pictures; all else there is OpenAI's. Base URL with `/v1`. */
export const hyperbolic: Dialect = {
  name: 'hyperbolic',
  keeps_errors: true,
  endpoints: {imageGenerate},
  fault: readFault,
}
