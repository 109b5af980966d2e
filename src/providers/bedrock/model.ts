import {uriPart} from '../../base/uri-part.ts'
import {type TranslationContext, UnsupportedInputFault} from '../translation.ts'

/**
 * Places that a cross-region inference profile names before the vendor (Bedrock user guide, "Supported inference
 * profiles").
 */
const REGION_PREFIXES = new Set('us us-gov eu apac global jp au ca sa uk me af il mx in'.split(' '))
/**
 * Kinds of resources whose name begins with the model's own id. Of all others (a profile of one's own, a router) the
 * model is unknown.
 */
const NAMED_AFTER_MODEL = new Set(['foundation-model', 'inference-profile', 'custom-model'])

/**
 * The foundation model's id in `model`: without its region prefix, out of an ARN where the ARN says it
 * (`amazon.titan-embed-text-v2:0`). Null when only AWS knows: an application inference profile, an imported or
 * provisioned model, a prompt router.
 */
export function foundationModel(model: string): string | null {
  const name = model.startsWith('arn:') ? nameInArn(model) : model
  if (name === null) return null
  const dot = name.indexOf('.')
  return dot > 0 && REGION_PREFIXES.has(name.slice(0, dot)) ? name.slice(dot + 1) : name
}

/** The maker of the model (`anthropic`, `amazon`, `meta` ...); null when it is unknown. */
export function vendor(model: string): string | null {
  const id = foundationModel(model)
  const dot = id?.indexOf('.') ?? -1
  return id !== null && dot > 0 ? id.slice(0, dot) : null
}

/** Below the runtime's host: `/model/{model}/{operation}`, the model percent-encoded whole. */
export function modelPath(context: TranslationContext, operation: string): string {
  const {model} = context
  // The characters of ids and ARNs; what could be read as a way to another path is none of them.
  if (model.length > 2048 || !/^[\w][\w.:/-]*$/.test(model) || model.includes('..')) {
    throw new UnsupportedInputFault('model', 'expected the id or the ARN of an Amazon Bedrock model')
  }
  return `/model/${uriPart(model, 'The model')}/${operation}`
}

/** `arn:{partition}:bedrock:{region}:{account}:{kind}/{name}[/...]`. */
function nameInArn(arn: string): string | null {
  const resource = arn.split(':').slice(5).join(':')
  const [kind, name] = resource.split('/', 2)
  return kind !== undefined && name && NAMED_AFTER_MODEL.has(kind) ? name : null
}
