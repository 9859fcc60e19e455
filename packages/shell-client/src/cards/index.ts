export { type ChartModel, readChart } from "./chart.ts";
export { type FormField, type FormModel, readForm } from "./form.ts";
export {
  checkForm,
  formRequest,
  type RawFormValues,
} from "./form-values.ts";
export { readTable, type TableModel } from "./table.ts";
export { cardField, cardLine, safeLine } from "./values.ts";
