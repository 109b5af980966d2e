import {acuvity} from './acuvity.ts'
import {akto} from './akto.ts'
import {aporia} from './aporia.ts'
import {azureContentSafety, azurePii, azureProtectedMaterial, azureShieldPrompt} from './azure.ts'
import {bedrock} from './bedrock.ts'
import {cato} from './cato.ts'
import {crowdstrike} from './crowdstrike.ts'
import {f5} from './f5.ts'
import {gateway} from './gateway.ts'
import {javelin} from './javelin.ts'
import {lakera} from './lakera.ts'
import {lasso} from './lasso.ts'
import {mistral} from './mistral.ts'
import {pangeaPii, pangeaTextGuard} from './pangea.ts'
import {panw} from './panw.ts'
import type {PartnerCheck} from './partner.ts'
import {patronus} from './patronus.ts'
import {pillar} from './pillar.ts'
import {promptfoo} from './promptfoo.ts'
import {promptsecurity} from './promptsecurity.ts'
import {qualifire} from './qualifire.ts'
import {exa, tavily} from './searches.ts'
import {sydelabs} from './sydelabs.ts'
import {walledai} from './walledai.ts'
import {zscaler} from './zscaler.ts'

/** Every partner's checks, in the order of the documentation. */
export const PARTNERS: readonly PartnerCheck[] = [
  ...gateway,
  acuvity,
  akto,
  aporia,
  azureContentSafety,
  azurePii,
  azureShieldPrompt,
  azureProtectedMaterial,
  bedrock,
  cato,
  crowdstrike,
  exa,
  f5,
  javelin,
  lakera,
  lasso,
  mistral,
  pangeaTextGuard,
  pangeaPii,
  panw,
  ...patronus,
  ...pillar,
  ...promptfoo,
  ...promptsecurity,
  ...qualifire,
  sydelabs,
  tavily,
  walledai,
  zscaler,
]
