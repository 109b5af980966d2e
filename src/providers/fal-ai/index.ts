import {object} from '../../base/json-object.ts'
import {type Dialect, InvalidResponseFault, type Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {fromBase64, imageList, manyIn, type Picture, promptIn, sizeIn} from '../unified/images.ts'
import {arrayIn, modelPath, objectIn, pick} from '../unified/read.ts'

/** Source: fal.ai, models' API pages: one path a model; `sync_mode` gives pictures as data URIs. */
const imageGenerate: Translation = {
  request(request, context) {
    const size = sizeIn(request)
    return {
      path: `/${modelPath(context)}`,
      body: {
        prompt: promptIn(request),
        num_images: manyIn(request),
        ...(size ? {image_size: size} : {}),
        ...pick(
          request,
          'image_size negative_prompt seed guidance_scale num_inference_steps output_format enable_safety_checker',
        ),
        ...(request.response_format === 'b64_json' ? {sync_mode: true} : {}),
      },
    }
  },
  reply(response, context, request) {
    const {images} = objectIn(response)
    return imageList(context, request, arrayIn(images, 'images').map(picture))
  },
}

function picture(image: unknown): Picture {
  const {url} = object(image)
  if (typeof url !== 'string' || url === '') throw new InvalidResponseFault('images: expected a url')
  return url.startsWith('data:') ? fromBase64(url)! : {url}
}

/** fal: pictures, answered at once. Base URL: the host. */
export const falAi: Dialect = {name: 'fal-ai', endpoints: {imageGenerate}, fault: readFault}
