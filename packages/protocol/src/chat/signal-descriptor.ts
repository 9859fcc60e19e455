import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";

/** What a suspended turn waits for. `metadata` belongs to whoever suspends; nobody else reads it. */
export const SignalDescriptorSchema = z.object({
  signal_id: z.string().min(1),
  metadata: JsonObjectSchema.optional(),
});
export type SignalDescriptor = z.infer<typeof SignalDescriptorSchema>;
