import {object} from '../../base/json-object.ts'
import {type Dialect, InvalidResponseFault, type Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {imageList, manyIn, type Picture, promptIn, sizeIn} from '../unified/images.ts'
import {arrayIn, objectIn, pick, word} from '../unified/read.ts'
import {asRanked, rankedIn, rerankBody, rerankList, rerankUsage} from '../unified/rerank.ts'

/** Source: docs.siliconflow.cn, rerank: as Cohere's first API, usage under `meta`. */
const rerank: Translation = {
  request: (request, context) => ({
    path: '/rerank',
    body: {
      ...rerankBody(request, context),
      return_documents: false,
      ...pick(request, 'max_chunks_per_doc overlap_tokens instruction'),
    },
  }),
  reply(response, context, request) {
    const reply = objectIn(response)
    const {id, results, meta} = reply
    const {billed_units, tokens} = object(meta)
    // It charges by tokens; searches are reported beside them.
    const {input_tokens} = object(tokens)
    const used = rerankUsage(input_tokens ? {tokens: input_tokens} : {search_units: object(billed_units).search_units})
    return asRanked(reply, rerankList(context, request, {id: word(id), results: rankedIn(results), usage: used}))
  },
}

/** Source: docs.siliconflow.cn, images: `image_size` and `batch_size`; addresses alone come back, good for an hour. */
const imageGenerate: Translation = {
  request(request, context) {
    const many = manyIn(request)
    const size = sizeIn(request)
    return {
      path: '/images/generations',
      body: {
        model: context.model,
        prompt: promptIn(request),
        ...(size ? {image_size: `${size.width}x${size.height}`} : {}),
        ...(many > 1 ? {batch_size: many} : {}),
        ...pick(
          request,
          'image_size batch_size negative_prompt seed num_inference_steps steps>num_inference_steps guidance_scale image',
        ),
      },
    }
  },
  reply(response, context, request) {
    const {images} = objectIn(response)
    const pictures = arrayIn(images, 'images').map((image): Picture => {
      const url = word(object(image).url)
      if (!url) throw new InvalidResponseFault('images: expected a url')
      return {url}
    })
    return imageList(context, request, pictures)
  },
}

/** SiliconFlow's reranking and pictures; all else there is OpenAI's. Base URL with `/v1`. */
export const siliconflow: Dialect = {
  name: 'siliconflow',
  keeps_errors: true,
  endpoints: {rerank, imageGenerate},
  fault: readFault,
}
